package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// survey reads a segment of an earlier process, and counts what is to be sent of it.
func (q *queue) survey(seg *segment) error {
	path := q.path(seg.number)
	data, err := load(q.disk, path)
	if err != nil {
		return err
	}
	if laterFormat(data) {
		return errLaterFormat
	}
	found := assess(data, seg.number, q.began, seg.newest)
	if found.size < int64(len(data)) {
		q.cutTail(path, data, found.size)
	}
	waiting, oldest := found.waiting(data)
	damage := found.damage
	q.mu.Lock()
	seg.unread, seg.size, seg.from = false, found.size, found.from
	seg.damage, seg.aside = damage, len(damage) > 0
	if known := q.oldest.Load(); waiting > 0 && (known == 0 || oldest < known) {
		q.oldest.Store(oldest)
	}
	q.used += seg.size
	q.records += waiting
	q.mu.Unlock()
	for _, d := range damage {
		if d.to > found.from {
			q.metrics.drops.Inc()
		}
	}
	if seg.aside {
		q.reportDamage(seg)
	}
	return nil
}

// cutTail ends a segment where its last sound entry ends. It stores a copy of the rest unless that
// is all zeros, as file systems leave after a power loss. A tail that cannot be cut stays: the next
// start counts it as damage, which loses nothing.
func (q *queue) cutTail(path string, data []byte, at int64) {
	tail := data[at:]
	log := q.log.With("file", filepath.Base(path), "bytes", len(tail))
	info, err := os.Stat(path)
	if err == nil {
		err = q.keepTail(path, tail, at, info.ModTime())
	}
	if err == nil {
		err = cut(path, at, info.ModTime())
	}
	if err != nil {
		log.Warn("the spool ends in the middle of a write that was never acknowledged, and the write cannot be removed", "error",
			err)
		return
	}
	log.Warn("the spool ended in the middle of a write that was never acknowledged: the write is removed")
}

// keepTail stores a copy of the rest, with the time of its writing, by which it gets too old.
func (q *queue) keepTail(path string, tail []byte, at int64, written time.Time) error {
	if strings.Trim(string(tail), "\x00") == "" {
		return nil
	}
	name := filepath.Join(q.dir, damagedDir, fmt.Sprintf("%s.%d%s", filepath.Base(path), at, tailExtension))
	if err := os.WriteFile(name, tail, 0o600); err != nil {
		return err
	}
	return os.Chtimes(name, time.Time{}, written)
}

func (q *queue) reportDamage(seg *segment) {
	bytes := int64(0)
	for _, d := range seg.damage {
		bytes += d.to - d.from
	}
	q.metrics.damage.Add(float64(len(seg.damage)))
	q.log.Error("the spool is damaged: the rest of the segment is sent, and the file is moved to the folder "+damagedDir,
		"file", segmentName(seg.number), "bytes", bytes, "places", len(seg.damage))
}

// countDamaged sets the metric of damaged files for an operator.
func (q *queue) countDamaged() {
	names, err := segmentNames(q.disk, filepath.Join(q.dir, damagedDir))
	if err != nil {
		q.log.Warn("cannot count the damaged segments of the spool", "error", err)
		return
	}
	q.aside.Store(int64(len(names)))
}

// contents describes a segment: entries that may have been acknowledged end at size, and those
// before from were sent.
type contents struct {
	entries, damage []span
	from, size      int64
}

// assess finds the contents of a segment, given the position of its directory.
func assess(data []byte, number uint64, began position, newest bool) contents {
	c := contents{from: segmentHeader, size: int64(len(data))}
	c.entries, c.damage = scan(data, number)
	if last := len(c.damage) - 1; newest && last >= 0 && c.damage[last].to == c.size {
		c.damage, c.size = c.damage[:last], c.damage[last].from
	}
	if number == began.segment && began.offset < c.size {
		c.from = max(c.from, began.offset)
	}
	return c
}

// unsent returns the entries that are to be sent.
func (c contents) unsent() []span {
	i, _ := slices.BinarySearchFunc(c.entries, c.from, func(e span, from int64) int { return cmp.Compare(e.from, from) })
	return c.entries[i:]
}

// waiting returns the records that are to be sent, and when the first of them was spooled, in Unix
// milliseconds.
func (c contents) waiting(data []byte) (records, oldest int64) {
	for i, e := range c.unsent() {
		records += e.records
		if i == 0 {
			oldest = payloadTime(data[e.from+entryHeader : e.to])
		}
	}
	return records, oldest
}

func cut(path string, at int64, written time.Time) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = f.Truncate(at); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, written))
}
