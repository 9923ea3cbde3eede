package spool

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// errUnreadable is wrapped by the error of a read that the disk refused.
var errUnreadable = errors.New("the spool cannot be read")

// batch is a sequence of entries. The payloads belong to the caller.
type batch struct {
	payloads [][]byte
	records  int64
	end      position
}

// readAt returns entries from a position on, which is the end of an earlier batch, or the
// beginning: at least one, if there is any, and no more than the limits beyond that. The end of an
// empty batch is the position up to which there is only damage.
//
// An error means that the disk did not return bytes. It does not prove damage, so the position does
// not move past it: the caller tries again later. Only a wrong checksum over bytes that were read
// is damage.
func (q *queue) readAt(from position, maxBytes, maxRecords int64) (batch, error) {
	b, err := q.tryRead(from, maxBytes, maxRecords)
	if err != nil {
		q.stopReading() // a file handle may be stale
		q.metrics.unread.Inc()
		return batch{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return b, nil
}

func (q *queue) tryRead(from position, maxBytes, maxRecords int64) (batch, error) {
	for {
		seg, size, skip := q.place(&from)
		if seg == nil {
			return batch{end: from}, nil
		}
		if seg.unread { // which only this goroutine changes
			if err := q.survey(seg); err != nil {
				return batch{}, err
			}
			continue
		}
		if skip > from.offset {
			from.offset = skip
			continue
		}
		b, err := q.readFrom(from, size, maxBytes, maxRecords)
		if err != nil || len(b.payloads) > 0 {
			return b, err
		}
		if err := q.inspect(seg, from.offset, size); err != nil {
			return batch{}, err
		}
	}
}

// place moves from to the position where reading continues, and returns the segment there, its
// size, and the end of the damage that begins there. Without a segment everything is read.
func (q *queue) place(from *position) (seg *segment, size, skip int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.normalise()
	if from.before(q.head) {
		*from = q.head
	}
	for _, s := range q.segments {
		if s.number < from.segment {
			continue
		}
		if s.unread {
			return s, 0, 0
		}
		if s.number > from.segment {
			*from = position{segment: s.number}
		}
		from.offset = max(from.offset, s.from)
		if from.offset >= s.size {
			continue
		}
		for _, d := range s.damage {
			if d.from <= from.offset && from.offset < d.to {
				skip = d.to
			}
		}
		return s, s.size, skip
	}
	return nil, 0, 0
}

// normalise moves head to the position where the oldest unacknowledged entry stands or is going to
// stand, and hands over the segments that it has passed. The caller holds mu, or is alone.
func (q *queue) normalise() {
	for len(q.segments) > 0 {
		first := q.segments[0]
		if first.unread {
			return
		}
		if q.head.segment < first.number {
			q.head = position{segment: first.number}
		}
		if q.head.segment == first.number {
			q.head.offset = max(q.head.offset, first.from)
			// Only the newest segment grows.
			if q.head.offset < first.size || len(q.segments) == 1 {
				return
			}
		}
		q.done = append(q.done, first)
		q.segments, q.moved = q.segments[1:], true
	}
}

func (q *queue) readFrom(at position, size, maxBytes, maxRecords int64) (batch, error) {
	if q.reading == nil || q.readingOf != at.segment {
		q.stopReading()
		f, err := q.disk.open(q.path(at.segment))
		if err != nil {
			return batch{}, err
		}
		q.reading, q.readingOf = f, at.segment
	}
	for _, limit := range [...]int64{maxBytes, entryHeader + maxPayloadBytes} {
		data := make([]byte, min(limit, size-at.offset))
		n, err := q.reading.ReadAt(data, at.offset)
		if n < len(data) && !errors.Is(err, io.EOF) { // inspect handles a file that ends early
			return batch{}, err
		}
		data = data[:n]
		b := batch{end: at}
		for offset := int64(0); offset < int64(len(data)); {
			n, records, ok := entryAt(data[offset:], at.segment, at.offset+offset)
			if !ok || len(b.payloads) > 0 && b.records+records > maxRecords {
				break
			}
			end := offset + int64(n)
			b.payloads = append(b.payloads, data[offset+entryHeader:end:end])
			b.records += records
			offset = end
			b.end.offset = at.offset + end
		}
		if len(b.payloads) > 0 || at.offset+int64(len(data)) == size {
			return b, nil
		}
	}
	return batch{}, nil
}

func (q *queue) stopReading() {
	if q.reading != nil {
		_ = q.reading.Close() // it was only read
		q.reading = nil
	}
}

// inspect looks for the damage that prevents reading a segment at a position: it reads the complete
// file again. Bytes missing at the end of a file are damage, since they were synced, once the file
// has been read to its end.
func (q *queue) inspect(seg *segment, at, size int64) error {
	data, err := load(q.disk, q.path(seg.number))
	if err != nil {
		return err
	}
	data = data[:min(int64(len(data)), size)]
	_, damage := scan(data, seg.number)
	if int64(len(data)) < size {
		damage = append(damage, span{from: int64(len(data)), to: size})
	}
	for _, d := range damage {
		if d.from <= at && at < d.to {
			q.mu.Lock()
			seg.damage, seg.aside = damage, true
			q.mu.Unlock()
			q.reportDamage(seg)
			return nil
		}
	}
	return errors.New("an entry could not be read and now it can")
}

// ack marks everything before end as sent, and frees the space of the segments that it passed.
func (q *queue) ack(end position, records int64) {
	q.mu.Lock()
	if q.head.before(end) {
		q.head, q.moved = end, true
	}
	q.records -= records
	q.normalise()
	if q.empty() {
		q.metrics.drops.Add(float64(max(0, q.records))) // damage that was found since may have cost some
		q.records = 0
		q.oldest.Store(0)
	}
	q.mu.Unlock()
	q.release()
}

// empty reports whether nothing waits to be acknowledged. The caller holds mu.
func (q *queue) empty() bool {
	return len(q.segments) == 0 || len(q.segments) == 1 && !q.segments[0].unread &&
		q.head.segment == q.segments[0].number && q.head.offset >= q.segments[0].size
}

// release deletes segments that this process has completely sent, or moves them aside if they had
// damage, and only then makes the position durable: a segment that is found below the position was
// never deleted on purpose, and is sent again. A failure is retried the next time.
func (q *queue) release() {
	q.mu.Lock()
	q.normalise()
	head, moved, done := q.head, q.moved, q.done
	q.moved, q.done = false, nil
	q.mu.Unlock()
	for _, seg := range done {
		err := q.discard(seg)
		q.mu.Lock()
		if err == nil {
			q.used -= seg.size
		} else {
			q.done = append(q.done, seg) // until then its space is used
		}
		q.mu.Unlock()
		if err != nil {
			q.log.Warn("cannot free space of the spool, will try again", "file", segmentName(seg.number), "error", err)
		}
	}
	if !moved {
		return
	}
	if err := q.bookmark.write(head); err != nil {
		// Not durable: after a crash these records are sent again, which is safe.
		q.log.Warn("cannot keep the read position of the spool", "error", err)
	}
}

// discard deletes a segment whose entries are all sent, or moves it aside if it had damage.
func (q *queue) discard(seg *segment) error {
	if q.reading != nil && q.readingOf == seg.number {
		q.stopReading() // an open file keeps its space
	}
	if !seg.aside {
		return q.disk.remove(q.path(seg.number))
	}
	if _, err := moveInto(q.disk, q.path(seg.number), filepath.Join(q.dir, damagedDir)); err != nil {
		return err
	}
	q.countDamaged()
	return nil
}

// tidy asks the committer to free the last segment's space if all of it is sent.
func (q *queue) tidy() {
	q.mu.Lock()
	q.tidying = true
	q.mu.Unlock()
	notify(q.wake)
}

// state returns the values of the metrics.
func (q *queue) state() (used, records int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, q.records
}
