package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// damagedDir holds, below the spool's own directory, what could not be read.
const damagedDir = "damaged"

// recover takes over what an earlier process left. A torn tail, which only the newest segment can
// have, was never acknowledged to anybody: it is cut off. Damage anywhere else costs the entries
// that it hit; the others are kept, and the file is moved aside when they are sent.
func (q *queue) recover() error {
	names, err := filepath.Glob(filepath.Join(q.dir, "*"+segmentExtension))
	if err != nil {
		return fmt.Errorf("list spool: %w", err)
	}
	slices.Sort(names) // their numbers have a fixed width
	if q.bookmark, q.head, err = openBookmark(filepath.Join(q.dir, positionFile)); err != nil {
		return err
	}
	q.number = q.head.segment
	for i, path := range names {
		number, ok := segmentNumber(path)
		if !ok {
			q.log.Warn("the spool has a file that is no segment", "file", filepath.Base(path))
			continue
		}
		if err := q.adopt(path, number, i == len(names)-1); err != nil {
			return err
		}
	}
	if err := q.disk.syncDir(q.dir); err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	q.normalise()
	q.countDamaged()
	if q.records > 0 {
		q.log.Info("the spool has records of an earlier process", "records", q.records, "bytes", q.used)
	}
	return nil
}

// adopt takes one segment over.
func (q *queue) adopt(path string, number uint64, newest bool) error {
	q.number = max(q.number, number)
	data, err := os.ReadFile(path)
	if err != nil {
		q.metrics.damage.Inc()
		q.metrics.drops.Inc()
		q.log.Error("a segment of the spool cannot be read and is moved aside: what it held is not sent", "file", filepath.Base(path), "error", err)
		return q.moveAside(path)
	}
	if laterFormat(data) {
		return fmt.Errorf("open spool: %s was written by a later release; start that one, or give another --spool-dir", filepath.Base(path))
	}
	entries, damage := scan(data, number)
	if last := len(damage) - 1; newest && last >= 0 && damage[last].to == int64(len(data)) {
		if err := q.cutTail(path, data, damage[last].from); err != nil {
			return err
		}
		data, damage = data[:damage[last].from], damage[:last]
	}
	from := int64(0)
	if number == q.head.segment {
		from = q.head.offset
	}
	unread, first := int64(0), int64(0)
	for _, e := range entries {
		if e.from >= from && number >= q.head.segment {
			if unread == 0 {
				first = payloadTime(data[e.from+entryHeader : e.to])
			}
			unread += e.records
		}
	}
	seg := &segment{number: number, size: int64(len(data)), damage: damage, aside: len(damage) > 0}
	for _, d := range damage {
		if number >= q.head.segment && d.to > max(from, segmentHeader) {
			q.metrics.drops.Inc()
		}
	}
	if unread == 0 && (number <= q.head.segment || len(entries) == 0) {
		return q.discard(path, seg)
	}
	if seg.aside {
		q.reportDamage(seg)
	}
	if q.records == 0 {
		q.oldest.Store(first)
	}
	q.segments = append(q.segments, seg)
	q.used += seg.size
	q.records += unread
	return nil
}

// cutTail ends a segment where its last sound entry ends. A copy of the rest is kept if it is
// anything but zeros, which is what a file system leaves that lost its power.
func (q *queue) cutTail(path string, data []byte, at int64) error {
	tail := data[at:]
	q.log.Warn("the spool ends in the middle of a write that nobody relies on: it is cut off", "file", filepath.Base(path), "bytes", len(tail))
	if strings.Trim(string(tail), "\x00") != "" {
		name := fmt.Sprintf("%s.%d.tail", filepath.Base(path), at)
		if err := os.WriteFile(filepath.Join(q.dir, damagedDir, name), tail, 0o600); err != nil {
			q.log.Warn("cannot keep a copy of what is cut off", "error", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("cut torn tail of spool: %w", err)
	}
	err = f.Truncate(at)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("cut torn tail of spool: %w", err)
	}
	return nil
}

// discard takes a segment whose entries are all sent off the disk, or aside if it had damage.
func (q *queue) discard(path string, seg *segment) error {
	if seg.aside {
		return q.moveAside(path)
	}
	if err := q.disk.remove(path); err != nil {
		return fmt.Errorf("remove segment of spool: %w", err)
	}
	return nil
}

func (q *queue) moveAside(path string) error {
	if err := q.disk.rename(path, filepath.Join(q.dir, damagedDir, filepath.Base(path))); err != nil {
		return fmt.Errorf("move damaged segment of spool aside: %w", err)
	}
	q.countDamaged()
	return nil
}

func (q *queue) reportDamage(seg *segment) {
	bytes := int64(0)
	for _, d := range seg.damage {
		bytes += d.to - d.from
	}
	q.metrics.damage.Add(float64(len(seg.damage)))
	q.log.Error("the spool is damaged: the rest of the segment is sent, and the file is kept in the folder "+damagedDir,
		"file", segmentName(seg.number), "bytes", bytes, "places", len(seg.damage))
}

// countDamaged sets the metric of what waits for a person.
func (q *queue) countDamaged() {
	files, err := os.ReadDir(filepath.Join(q.dir, damagedDir))
	if err != nil {
		q.log.Warn("cannot count the damaged segments of the spool", "error", err)
		return
	}
	n := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), segmentExtension) {
			n++
		}
	}
	q.metrics.damaged.Set(float64(n))
}
