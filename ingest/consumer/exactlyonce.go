package consumer

import (
	"context"
	"time"

	"lodestone/ingest/stream"

	"lodestone/pkg/kafka"
)

// recover finds out how far earlier assignments may have got: it ends inserts that still run, then
// reads the last stored offset. Up to there, and within the announced block, every insert is
// preceded by a look at what is stored (insert). It reports whether the worker may go on.
func (w *worker) recover(ctx context.Context, p position) bool {
	return w.retry(ctx, "find out what is stored", func() error {
		last, err := w.findLast(ctx, p.fetch)
		if err != nil {
			return err
		}
		// Only now: what is stored was in the log before.
		ranges, err := kafka.Ranges(ctx, w.cl, w.stream.Topic)
		if err != nil {
			return err
		}
		if end := ranges[w.at.Partition].To; last >= end {
			return &differsError{last, end}
		}
		w.lastStored, w.maybeStored = last, max(last, w.next-1, p.intent)
		w.builder.done, err = w.store.Newest(ctx, max(p.fetch, w.next-comparedOffsets), w.next-1)
		return err
	})
}

// findLast ends inserts that still run, and returns the last stored offset from the one given on.
func (w *worker) findLast(ctx context.Context, from int64) (int64, error) {
	if err := w.store.EndInserts(ctx); err != nil {
		return 0, err
	}
	return w.store.Last(ctx, from)
}

// insert stores the block's rows exactly once and reports whether the worker may go on.
//
// The block is announced first: the commit says that everything before it is done and that its
// range may be stored from now on. So whoever owns the partition after a crash builds the same
// block, with the same token, and looks at the stored offsets before inserting. The token settles
// only the race with an insert that is still on its way; what counts are the stored offsets.
func (w *worker) insert(ctx context.Context) bool {
	b := w.block
	ctx, end := b.begin(ctx, w.trace)
	defer end()
	maybeStored := b.first <= w.maybeStored
	round := 0
	tries := w.backoff()
	for {
		// Before every try, since the commit also proves that the partition is still ours. The try
		// has to end within InsertTimeout of that proof, even if the process is stopped in
		// between; that is less than Kafka waits before it gives the partition away.
		proved := time.Now()
		if !w.commit(ctx, b.first, b.last) {
			return false
		}
		// Only now: a commit that had to be repeated may have given the slot, and so its connection, to
		// others.
		var by *stream.Connection // nil: that of the store
		if b.slot != nil {
			by = b.slot.to(w.route)
		}
		deadline, cancel := context.WithDeadline(ctx, proved.Add(w.cfg.InsertTimeout))
		done, err := w.attempt(deadline, by, maybeStored, &round)
		cancel()
		switch {
		case done:
			w.blocked.Store(false)
			return true
		case ctx.Err() != nil:
			return false
		case err == nil:
			maybeStored = true // inserted although rows may be stored: count them
			continue
		}
		maybeStored = true
		w.metrics.retries.Inc()
		if !w.wait(ctx, tries, "insert", err) {
			return false
		}
	}
}

// attempt makes one try, over the connection given. If no row can be stored yet, a successful
// insert completes the block. If rows may be stored, only having seen every row completes it: an
// insert that ClickHouse acknowledged may have been swallowed by a token that was logged although
// its rows never got to the disk.
func (w *worker) attempt(ctx context.Context, by *stream.Connection, maybeStored bool, round *int) (done bool, err error) {
	b := w.block
	if !maybeStored {
		begin := time.Now()
		if err := w.store.Insert(ctx, by, b.table, b.token(w.at.TopicID, w.at.Partition, 0)); err != nil {
			return false, err
		}
		took := time.Since(begin)
		w.metrics.insert.Observe(took.Seconds())
		w.builder.pace.inserted(len(b.rows()), took)
		return true, nil
	}
	if err := w.store.EndInserts(ctx); err != nil {
		return false, err
	}
	stored, err := w.store.Stored(ctx, b.first, b.last)
	if err != nil {
		return false, err
	}
	missing := b.missing(stored)
	defer func() { b.tables.Give(missing) }()
	all := len(b.rows())
	if left := len(missing.Offsets()); left > 0 && left < all {
		// An insert that began before its end was asked for, and arrived after it, could be half
		// done. Now that it shows, it can be ended, and what it left does not change any more.
		if err := w.store.EndInserts(ctx); err != nil {
			return false, err
		}
		if stored, err = w.store.Stored(ctx, b.first, b.last); err != nil {
			return false, err
		}
		b.tables.Give(missing)
		missing = b.missing(stored)
	}
	if err := w.compare(ctx, stored); err != nil {
		return false, err
	}
	left := len(missing.Offsets())
	if found := all - left; found > 0 && *round == 0 {
		*round = 1 // another set of rows, so another token
		w.metrics.recovered.Add(float64(found))
		w.log.Info("part of the block is stored already", "first_offset", b.first, "last_offset", b.last, "stored", found, "missing", left)
	}
	if left == 0 {
		return true, nil
	}
	if err := w.store.Insert(ctx, by, missing, b.token(w.at.TopicID, w.at.Partition, *round)); err != nil {
		return false, err
	}
	*round++ // if rows are still missing, this token is spent
	return false, nil
}
