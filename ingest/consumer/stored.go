package consumer

import (
	"context"
	"errors"
	"maps"
	"math"
	"time"

	"lodestone/ingest/stream"
)

// aheadOffsets is how many offsets one look ahead covers: as many as a block may have rows several
// times over.
const aheadOffsets = 1 << 18

// isStored reports whether every row of the block is stored already, and takes those that are out
// of what is to be looked for among old events. Committed offsets that are lost or set back make a
// consumer walk through all of the log that is left: with a look and a commit for each block that
// would take hours, so one look ahead serves many. Rows are never taken away while a consumer may
// look for them, so what it shows as stored stays so; of the rest it knows nothing, since an insert
// of an earlier assignment may have come later. ok is false if the worker is to end.
func (w *worker) isStored(ctx context.Context) (stored, ok bool) {
	b := w.block
	if b.first > w.maybeStored || len(b.rows()) == 0 {
		return false, true
	}
	limit := w.cfg.InsertTimeout
	ok = w.retry(ctx, "look which rows are stored", func() (err error) {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		limit = min(2*limit, maxLook) // as in retryLook
		if !w.ahead.Covers(b.first, b.last) {
			w.ahead, err = w.store.Stored(limited, b.first, max(b.last, min(w.maybeStored, b.first+aheadOffsets-1)))
			if err != nil {
				return err
			}
		}
		if err := w.compare(limited, w.ahead); err != nil {
			return err
		}
		return w.dropReplayed(limited)
	})
	if !ok {
		return false, false
	}
	left := b.spooled[:0]
	for _, s := range b.spooled {
		if !w.ahead.Has(s.offset) {
			left = append(left, s)
		}
	}
	b.spooled = left
	for _, offset := range b.rows() {
		if !w.ahead.Has(offset) {
			return false, true
		}
	}
	w.metrics.recovered.Add(float64(len(b.rows())))
	return true, true
}

// dropReplayed takes rows out of the block that are missing below stored ones although their events
// are stored: their records were dead letters of an earlier build, whose replays stand elsewhere,
// with the same time.
func (w *worker) dropReplayed(ctx context.Context) error {
	b := w.block
	var holes []stream.Record
	var offsets []int64
	for row, offset := range b.rows() {
		if offset < w.lastStored && !w.ahead.Has(offset) {
			holes, offsets = append(holes, b.table.Record(row)), append(offsets, offset)
		}
	}
	found, err := w.store.StoredBefore(ctx, holes, math.MaxInt64, stream.SameTime)
	if err != nil || len(found) == 0 {
		return err
	}
	repeats := map[int64]struct{}{}
	for i, r := range holes {
		if _, stored := found[r.Identity]; stored {
			repeats[offsets[i]] = struct{}{}
		}
	}
	b.drop(repeats)
	return nil
}

// maxLook bounds a look that a dead connection keeps from ending.
const maxLook = 5 * time.Minute

// dropStoredRepeats takes out of the block what came from a spool and is stored since long: the
// sender gave the spooling collector up and sent again, maybe hours ago. What is stored below the
// block never changes, nor what earlier topics of the name have, so this decides the same whenever
// the block is built.
func (w *worker) dropStoredRepeats(ctx context.Context) bool {
	b := w.block
	return w.retryLook(ctx, "look for events stored long ago", func(ctx context.Context) error {
		var all, left []stream.Record
		for _, s := range b.spooled {
			all = append(all, s.Record)
		}
		found, err := w.store.StoredBefore(ctx, all, b.first, stream.RepeatWithin)
		if err != nil {
			return err
		}
		// These are few: of a quiet partition, whose window expired, or of an event that was just sent
		// twice.
		for _, s := range b.spooled {
			if _, stored := found[s.Identity]; !stored && s.anyTime {
				left = append(left, s.Record)
			}
		}
		old, err := w.store.StoredBefore(ctx, left, b.first, stream.AnyTime)
		if err != nil {
			return err
		}
		maps.Copy(found, old)
		if len(found) == 0 {
			return nil
		}
		repeats := map[int64]struct{}{}
		for _, s := range b.spooled {
			if _, stored := found[s.Identity]; stored {
				repeats[s.offset] = struct{}{}
			}
		}
		b.drop(repeats)
		return nil
	})
}

// retryLook retries a look into what is long past, with a growing limit: it only reads, so it may
// take as long as it needs. A server that is slow for having much to do would otherwise be asked
// the same over and over, and never answer. Looks of all partitions take turns. One that fails
// loses its turn: what it asks may be away, and others look meanwhile.
func (w *worker) retryLook(ctx context.Context, what string, look func(context.Context) error) bool {
	limit := w.cfg.InsertTimeout
	return w.retry(ctx, what, func() error {
		select {
		case w.looks <- struct{}{}:
			defer func() { <-w.looks }()
		case <-ctx.Done():
			return ctx.Err()
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		limit = min(2*limit, maxLook)
		return look(limited)
	})
}

// A log that lost its end (all brokers lost their power, or Kafka was restored from a backup) gives
// the offsets of what is stored to new records. So a record is passed over only if the row at its
// offset is of the same event (compare). What is below the commit is passed over without a look:
// there the last rows are compared with what the builder reads for the window of repeats, since
// what a log loses is always its end.
const (
	comparedOffsets = 1_000 // so far below the commit they are looked for
	comparedRows    = 1_000 // of the rows of a block, the last ones that are stored
)

// compare returns a *differsError if a row that was found stored is not of the event that the block
// has at its offset. The last rows tell: from where the log lost its end, every record is another
// one. All rows of a block take long to compare, since those of all other partitions lie between
// them.
func (w *worker) compare(ctx context.Context, stored *stream.Offsets) error {
	offsets := w.block.table.Offsets()
	past := len(offsets)
	for past > 0 && !stored.Has(offsets[past-1]) {
		past--
	}
	if past == 0 {
		return nil
	}
	from := max(0, past-comparedRows)
	err := w.compareRows(ctx, stored, from, past)
	if _, differs := errors.AsType[*differsError](err); differs && from > 0 { // all rows, to say where it begins
		return w.compareRows(ctx, stored, 0, past)
	}
	return err
}

// compareRows compares some rows of the block.
func (w *worker) compareRows(ctx context.Context, stored *stream.Offsets, from, past int) error {
	rows := w.block.table
	same, err := w.store.Same(ctx, rows, from)
	if err != nil {
		return err
	}
	for _, offset := range rows.Offsets()[from:past] {
		if stored.Has(offset) && !same.Has(offset) {
			return &differsError{offset, w.builder.end.Load()}
		}
	}
	return nil
}
