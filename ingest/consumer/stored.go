package consumer

import (
	"context"
	"maps"
	"math"
	"time"

	"lodestone/ingest/stream"
)

// aheadOffsets is how many offsets one look ahead covers: as many as a batch may have rows several
// times over.
const aheadOffsets = 1 << 18

// dropStored takes the rows out of the batch that earlier assignments stored. Committed offsets
// that are lost or set back make a consumer walk through all of the log that is left: with a look
// for each batch that would take hours, so one look ahead serves many. It shows all there will ever
// be: nothing of earlier assignments comes any more, and rows are never taken away while a consumer
// may look for them. It reports whether the batch is to be stored.
func (b *batcher) dropStored(ctx context.Context, batch *batch) bool {
	rows := batch.rowsOf()
	var asked []stream.Span
	maybeStored := false
	for _, s := range batch.spans {
		p := s.of
		if s.first > p.lastStored || len(rows[s]) == 0 {
			continue
		}
		maybeStored = true
		if !p.stored.Covers(s.first, min(s.last, p.lastStored)) {
			asked = append(asked, stream.Span{Partition: p.partition, First: s.first,
				Last: min(p.lastStored, max(s.last, s.first+aheadOffsets-1))})
		}
	}
	if !maybeStored {
		return true
	}
	return b.retryLook(ctx, batch, "look which rows are stored", func(ctx context.Context) error {
		if len(asked) > 0 {
			found, err := b.table.Stored(ctx, asked)
			if err != nil {
				return err
			}
			for _, s := range batch.spans {
				if offsets, ok := found[s.of.partition]; ok {
					s.of.stored = offsets
				}
			}
			asked = nil
		}
		err := b.dropFound(ctx, batch, func(s *span) *stream.Offsets {
			if s.first > s.of.lastStored {
				return nil
			}
			return s.of.stored
		})
		if err != nil {
			return err
		}
		return b.dropReplayed(ctx, batch)
	})
}

// dropReplayed takes rows out of the batch that are missing below stored ones although their events
// are stored: their records were dead letters of an earlier build, whose replays stand elsewhere,
// with the same time.
func (b *batcher) dropReplayed(ctx context.Context, batch *batch) error {
	if batch.table == nil {
		return nil
	}
	var holes []stream.Candidate
	offsets := batch.table.Offsets()
	for row, index := range batch.owner {
		if p := batch.spans[index].of; offsets[row] < p.lastStored {
			holes = append(holes, stream.Candidate{Record: batch.table.Record(row),
				Partition: p.partition, Offset: math.MaxInt64})
		}
	}
	if len(holes) == 0 {
		return nil
	}
	found, err := b.table.StoredBefore(ctx, holes, stream.SameTime)
	if err != nil {
		return err
	}
	b.dropRepeats(batch, func(row int) bool {
		_, repeated := found[batch.table.Record(row).Identity]
		return repeated && offsets[row] < batch.spans[batch.owner[row]].of.lastStored
	})
	return nil
}

// dropRepeats takes rows out of the batch that repeat an event.
func (b *batcher) dropRepeats(batch *batch, repeated func(row int) bool) {
	before := batch.rows()
	batch.keep(func(row int) bool { return !repeated(row) })
	batch.repeats += before - batch.rows()
}

// dropStoredRepeats takes out of the batch what came from a spool and is stored since long: the
// sender gave the spooling collector up and sent again, maybe hours ago. What is stored below a
// span never changes, nor what earlier topics of the name have.
func (b *batcher) dropStoredRepeats(ctx context.Context, batch *batch) bool {
	var all []stream.Candidate
	anyTime := map[stream.Identity]bool{}
	for _, s := range batch.spans {
		for _, row := range s.spooled {
			all = append(all, stream.Candidate{Record: row.Record, Partition: s.of.partition, Offset: s.first})
			anyTime[row.Identity] = anyTime[row.Identity] || row.anyTime
		}
	}
	if len(all) == 0 || batch.rows() == 0 {
		return true
	}
	return b.retryLook(ctx, batch, "look for events stored long ago", func(ctx context.Context) error {
		found, err := b.table.StoredBefore(ctx, all, stream.RepeatWithin)
		if err != nil {
			return err
		}
		// These are few: of a quiet partition, whose window expired, or of an event that was just sent
		// twice.
		var left []stream.Candidate
		for _, sought := range all {
			if _, stored := found[sought.Identity]; !stored && anyTime[sought.Identity] {
				left = append(left, sought)
			}
		}
		old, err := b.table.StoredBefore(ctx, left, stream.AnyTime)
		if err != nil {
			return err
		}
		maps.Copy(found, old)
		if len(found) == 0 {
			return nil
		}
		repeats := map[stream.Place]struct{}{}
		for _, s := range batch.spans {
			for _, row := range s.spooled {
				if _, stored := found[row.Identity]; stored {
					repeats[stream.Place{Partition: s.of.partition, Offset: row.offset}] = struct{}{}
				}
			}
		}
		offsets, partitions := batch.table.Offsets(), batch.table.Partitions()
		b.dropRepeats(batch, func(row int) bool {
			_, repeated := repeats[stream.Place{Partition: partitions[row], Offset: offsets[row]}]
			return repeated
		})
		return nil
	})
}

// maxLook bounds a look that a dead connection keeps from ending.
const maxLook = 5 * time.Minute

// retryLook retries a look into what is long past, with a growing limit: it only reads, so it may
// take as long as it needs. A server that is slow for having much to do would otherwise be asked
// again and again for what it nearly had. So the looks that follow may take four times as long as
// this one did.
func (b *batcher) retryLook(ctx context.Context, batch *batch, what string, look func(context.Context) error) bool {
	limit := b.cfg.InsertTimeout
	return b.retry(ctx, batch.owners(), what, func() error {
		limit = min(max(limit, 4*b.looked), maxLook)
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		began := time.Now()
		err := look(limited)
		b.looked = max(time.Since(began), b.looked/2)
		return err
	})
}

// A log that lost its end (all brokers lost their power, or Kafka was restored from a backup) gives
// the offsets of what is stored to new records. So a record is passed over only if the row at its
// offset is of the same event (differs). What is below the commit is passed over without a look:
// there the last rows are compared with what is read for the window of repeats, since what a log
// loses is always its end.
const (
	comparedOffsets = 1_000 // so far below the commit they are looked for
	comparedRows    = 1_000 // of the rows of a span, the last ones that are stored
)

// dropFound takes the rows out of the batch that are stored. A partition whose log does not hold
// what was stored of it stands still.
func (b *batcher) dropFound(ctx context.Context, batch *batch, found func(*span) *stream.Offsets) error {
	if batch.table == nil {
		return nil
	}
	offsets := batch.table.Offsets()
	isStored := func(row int) bool { return found(batch.spans[batch.owner[row]]).Has(offsets[row]) }
	stored := map[*span][]int{}
	for s, rows := range batch.rowsOf() {
		for _, row := range rows {
			if isStored(row) {
				stored[s] = append(stored[s], row)
			}
		}
	}
	if len(stored) == 0 {
		return nil
	}
	differing, err := b.differing(ctx, batch, stored)
	if err != nil {
		return err
	}
	total := 0
	for _, rows := range stored {
		total += len(rows)
	}
	batch.keep(func(row int) bool { return !isStored(row) })
	batch.remove(func(s *span) bool {
		offset, differs := differing[s]
		if differs {
			s.of.halt(&differsError{offset, s.of.end.Load()})
			s.of.givenBack.Store(true)
		}
		return differs
	})
	b.metrics.recovered.Add(float64(total))
	return nil
}

// differing returns the spans with a stored row whose event is not that of the batch at its offset,
// with the first such offset. The last rows tell: from where the log lost its end, every record is
// another one. All rows of a batch take long to compare, since those of all other partitions lie
// between them.
func (b *batcher) differing(ctx context.Context, batch *batch, stored map[*span][]int) (map[*span]int64, error) {
	var last []int
	for _, rows := range stored {
		last = append(last, rows[max(0, len(rows)-comparedRows):]...)
	}
	same, err := b.table.Same(ctx, batch.table, last)
	if err != nil {
		return nil, err
	}
	first := func(rows []int, same map[int]struct{}) (int64, bool) {
		for _, row := range rows {
			if _, ok := same[row]; !ok {
				return batch.table.Offsets()[row], true
			}
		}
		return 0, false
	}
	differing := map[*span]int64{}
	for s, rows := range stored {
		offset, differs := first(rows[max(0, len(rows)-comparedRows):], same)
		if !differs {
			continue
		}
		if len(rows) > comparedRows { // all rows, to say where it begins
			all, err := b.table.Same(ctx, batch.table, rows)
			if err != nil {
				return nil, err
			}
			offset, _ = first(rows, all)
		}
		differing[s] = offset
	}
	return differing, nil
}
