package spool

import (
	"errors"
	"fmt"
	"path/filepath"
)

// damagedDir, below the spool's own directory, holds damaged segments.
const damagedDir = "damaged"

var errLaterFormat = errors.New("it was written by a later release: start that one, or give another --spool-dir")

// recover takes over the files of an earlier process. A torn tail, which only the newest segment
// can have, was never acknowledged: it is cut off. Damage anywhere else loses only the damaged
// entries; the others are sent, and then the file is moved aside.
//
// It deletes nothing. The position shows how much of its segment was sent. A segment below it, or
// one that is completely sent according to it, should not exist: an operator restored it, or its
// deletion did not become durable. This process did not see it sent, so it sends it again, and the
// consumer drops the events that are stored.
func (q *queue) recover() error {
	names, err := segmentNames(q.disk, q.dir)
	if err != nil {
		return err
	}
	if q.bookmark, q.began, err = openBookmark(filepath.Join(q.dir, positionFile)); err != nil {
		return err
	}
	q.number = q.began.segment
	stands := false
	for _, name := range names {
		number, ok := segmentNumber(name)
		if !ok {
			q.log.Warn("the spool has a file that is not a segment; it is left alone", "file", name)
			continue
		}
		q.segments = append(q.segments, &segment{number: number, unread: true})
		q.number = max(q.number, number)
		stands = stands || number == q.began.segment
	}
	q.head = q.began
	if !stands && q.began.segment > 0 {
		// The segment is finished. If it is restored, the position must not claim that some of it was
		// sent.
		q.head, q.moved = position{segment: q.began.segment + 1}, true
	}
	if len(q.segments) > 0 {
		q.head = position{segment: q.segments[0].number}
		q.segments[len(q.segments)-1].newest = true
	}
	for _, seg := range q.segments {
		if err := q.survey(seg); errors.Is(err, errLaterFormat) {
			return fmt.Errorf("open spool: %s: %w", segmentName(seg.number), err)
		} else if err != nil { // the drain tries again when its turn comes
			q.metrics.unread.Inc()
			q.log.Error("cannot read a segment of the spool, will try again; later segments wait", "file",
				segmentName(seg.number), "error", err)
		}
	}
	if err := q.disk.syncDir(q.dir); err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	q.release()
	q.countDamaged()
	if q.records > 0 {
		q.log.Info("the spool has records of an earlier process", "records", q.records, "bytes", q.used)
	}
	return nil
}
