package spool

import (
	"errors"
	"fmt"
	"os"
)

// batch is some entries in a row. The payloads are the caller's.
type batch struct {
	payloads [][]byte
	records  int64
	end      position
}

// read returns the oldest entries that are not acknowledged: at least one, if there is any, and no
// more than the limits beyond that. An empty batch means that there is none.
func (q *queue) read(maxBytes, maxRecords int64) (batch, error) {
	return q.readAt(position{}, maxBytes, maxRecords)
}

// readAt does so from a place on, which is the end of an earlier batch, or the beginning. The end of
// an empty batch is how far there is nothing but damage.
func (q *queue) readAt(from position, maxBytes, maxRecords int64) (batch, error) {
	for {
		seg, size, at, skip, ok := q.place(&from)
		if !ok {
			return batch{end: from}, nil
		}
		if skip > at {
			from = position{seg.number, skip}
			continue
		}
		b, err := q.readFrom(seg.number, at, size, maxBytes, maxRecords)
		if err == nil && len(b.payloads) > 0 {
			return b, nil
		}
		if err := q.inspect(seg, at, size); err != nil {
			return batch{}, err
		}
	}
}

// place returns where to read on, and where damage that begins there ends. It moves from to there.
func (q *queue) place(from *position) (seg *segment, size, at, skip int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.normalise()
	if from.segment < q.head.segment || from.segment == q.head.segment && from.offset < q.head.offset {
		*from = q.head
	}
	for _, s := range q.segments {
		if s.number < from.segment {
			continue
		}
		if s.number > from.segment {
			*from = position{s.number, segmentHeader}
		}
		from.offset = max(from.offset, segmentHeader)
		if from.offset < s.size {
			seg = s
			break
		}
	}
	if seg == nil {
		return nil, 0, 0, 0, false
	}
	for _, d := range seg.damage {
		if d.from <= from.offset && from.offset < d.to {
			skip = d.to
		}
	}
	return seg, seg.size, from.offset, skip, true
}

// normalise moves head to the next segment if there is one and this one is read. Segments before
// head stay in the list until they are retired. The caller holds mu, or is alone.
func (q *queue) normalise() {
	for len(q.segments) > 0 {
		first := q.segments[0]
		if q.head.segment < first.number {
			q.head = position{first.number, segmentHeader}
		}
		q.head.offset = max(q.head.offset, segmentHeader)
		// Only the newest segment grows.
		if q.head.offset < first.size || len(q.segments) == 1 {
			return
		}
		q.done = append(q.done, first)
		q.segments = q.segments[1:]
	}
}

func (q *queue) readFrom(number uint64, at, size, maxBytes, maxRecords int64) (batch, error) {
	if q.reading == nil || q.readingOf != number {
		q.stopReading()
		f, err := os.Open(q.path(number))
		if err != nil {
			return batch{}, fmt.Errorf("read spool: %w", err)
		}
		q.reading, q.readingOf = f, number
	}
	for _, limit := range [...]int64{maxBytes, entryHeader + maxPayloadBytes} {
		data := make([]byte, min(limit, size-at))
		if _, err := q.reading.ReadAt(data, at); err != nil {
			return batch{}, fmt.Errorf("read spool: %w", err)
		}
		b := batch{end: position{number, at}}
		for offset := int64(0); offset < int64(len(data)); {
			n, records, ok := entryAt(data[offset:], number, at+offset)
			if !ok || len(b.payloads) > 0 && b.records+records > maxRecords {
				break
			}
			end := offset + int64(n)
			b.payloads = append(b.payloads, data[offset+entryHeader:end:end])
			b.records += records
			offset = end
			b.end.offset = at + end
		}
		if len(b.payloads) > 0 || at+int64(len(data)) == size {
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

// inspect looks for the damage that keeps a segment from being read at a place.
func (q *queue) inspect(seg *segment, at, size int64) error {
	data, err := os.ReadFile(q.path(seg.number))
	var damage []span
	switch {
	case err != nil:
		q.log.Error("a segment of the spool cannot be read", "file", segmentName(seg.number), "error", err)
		damage = []span{{from: at, to: size}}
	default:
		data = data[:min(int64(len(data)), size)]
		if _, damage = scan(data, seg.number); int64(len(data)) < size {
			damage = append(damage, span{from: int64(len(data)), to: size})
		}
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
	return errors.New("read spool: an entry could not be read and now it can")
}

// ack makes it durable that everything before end is sent.
func (q *queue) ack(end position, records int64) error {
	q.mu.Lock()
	q.head = end
	q.records -= records
	q.normalise()
	if len(q.segments) <= 1 && len(q.segments) > 0 && q.head.offset >= q.segments[0].size || len(q.segments) == 0 {
		q.metrics.drops.Add(float64(max(0, q.records))) // damage that was found since may have cost some
		q.records = 0
		q.oldest.Store(0)
	}
	head, done := q.head, q.done
	q.done = nil
	q.mu.Unlock()
	if err := q.bookmark.write(head); err != nil {
		// Not durable: after a crash these records are sent again, which is safe.
		q.log.Warn("cannot keep the read position of the spool", "error", err)
	}
	var errs []error
	for _, seg := range done {
		if err := q.discard(q.path(seg.number), seg); err != nil {
			errs = append(errs, err)
			q.mu.Lock()
			q.done = append(q.done, seg) // again at the next time; until then its room is taken
			q.mu.Unlock()
			continue
		}
		q.mu.Lock()
		q.used -= seg.size
		q.mu.Unlock()
	}
	return errors.Join(errs...)
}

// tidy asks the committer to give the last segment's room free if all of it is sent.
func (q *queue) tidy() {
	q.mu.Lock()
	q.tidying = true
	q.mu.Unlock()
	notify(q.wake)
}

// retire removes the last segment if tidy asked for it, or the queue is being closed. It runs in
// the committer, which alone knows that nothing is being written.
func (q *queue) retire() {
	q.mu.Lock()
	asked := q.tidying || q.closed
	q.tidying = false
	if !asked || q.next != nil || len(q.segments) != 1 || q.head.segment != q.segments[0].number || q.head.offset < q.segments[0].size {
		q.mu.Unlock()
		return
	}
	seg := q.segments[0]
	q.segments = nil
	q.mu.Unlock()
	if q.activeSeg == seg {
		q.abandon()
	}
	if err := q.discard(q.path(seg.number), seg); err != nil {
		q.log.Warn("cannot give room of the spool free", "error", err)
		q.mu.Lock()
		q.done = append(q.done, seg)
		q.mu.Unlock()
		return
	}
	q.mu.Lock()
	q.used -= seg.size
	q.mu.Unlock()
}

// state returns what the metrics show.
func (q *queue) state() (used, records int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, q.records
}
