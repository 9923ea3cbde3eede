package consumer

import (
	"context"
	"errors"
	"time"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

// Every acknowledged event is stored, and none twice, because of what this file does and in which
// order. A row carries its record's place in the log, so what is stored can be seen. A commit of
// the consumer group says of a partition that everything below its offset is done, and announces a
// range behind it, with a time by the server's clock. Five facts hold:
//
//  1. Every offset below a commit is done: a commit follows the answers of the inserts below it.
//  2. A row at or above the last commit is of a range that was announced, by an insert that names
//     the partition and that began before the announced time: insert announces first, and the
//     server refuses rows that come later (stream.Store.Insert), however long the process was
//     stopped.
//  3. Once the server's clock is past the time, no such insert begins any more. Those that began
//     are among the server's running queries until they end. So whoever waits for the time, ends
//     the inserts that run, and then looks, sees what there will ever be: the last look.
//  4. No one inserts rows of an announced range but after a last look: neither the one who
//     announced it and does not know what became of the insert (resolve), nor the next owner
//     (lastLook).
//  5. A commit of an owner before is refused by the group's generation, so the commit that a new
//     owner reads is the last one. One of the same owner that arrives late sets offset, range and
//     time back together; the rows beyond it are found by the last look.
//
// Only the server's own clock counts. If it is set back while an insert is under way whose consumer
// is stopped at that moment, the insert may come after the last look, and its rows be stored twice.

// group stores commits.
type group interface {
	// commit returns when the group has all of the commits, or with the reason why it may not have
	// some of them. Commits of partitions that were given back are left out.
	commit(ctx context.Context, commits []commit) error
}

// commit says that everything below next is done.
type commit struct {
	of        *partition
	next      int64
	epoch     int32 // of the leader that wrote the last record below next, or noEpoch
	announced stream.Announcement
}

// table is a table of one shard: stream.Store says what its methods do.
type table interface {
	Now(ctx context.Context) (time.Time, error)
	Before(ctx context.Context, after time.Duration) (time.Time, error)
	Insert(ctx context.Context, rows stream.Table, partitions []int32, before time.Time) error
	EndInserts(ctx context.Context, partitions []int32) error
	Stored(ctx context.Context, spans []stream.Span) (map[int32]*stream.Offsets, error)
	Last(ctx context.Context, spans []stream.Span) (map[int32]int64, error)
	Same(ctx context.Context, rows stream.Table, which []int) (map[int]struct{}, error)
	Newest(ctx context.Context, spans []stream.Span) (map[stream.Place]stream.Identity, error)
	StoredBefore(ctx context.Context, events []stream.Candidate, within time.Duration) (map[stream.Identity]struct{},
		error)
	Probe(ctx context.Context) error
	Close()
}

// doubt says whether it is unknown that an insert stored the rows of a batch.
type doubt struct {
	exists bool
	until  time.Time // by the server's clock, until when the insert may begin; zero: it has ended
}

// insert stores the rows of a batch once. Spans leave the batch whose partitions are given back,
// and those that ClickHouse refuses.
func (b *batcher) insert(ctx context.Context, batch *batch, d doubt) {
	tries := newBackoff()
	for {
		batch.remove(func(s *span) bool { return s.of.givenBack.Load() })
		if len(batch.spans) == 0 {
			return
		}
		err := b.try(ctx, batch, &d)
		switch {
		case err == nil:
			b.done(batch)
			return
		case clickhouse.IsRefusal(err) && b.table.Probe(ctx) == nil: // it is the data that is refused
			b.setApart(ctx, batch, d, err)
			return
		case !b.wait(ctx, batch.owners(), tries, "insert", err):
			return
		}
	}
}

// try makes one try: what is in doubt is resolved, what is left is announced, and inserted.
func (b *batcher) try(ctx context.Context, batch *batch, d *doubt) error {
	if d.exists {
		if err := b.resolve(ctx, batch, d.until); err != nil {
			return err
		}
		*d = doubt{}
	}
	if batch.rows() == 0 {
		return nil
	}
	before, err := b.table.Before(ctx, b.cfg.InsertTimeout)
	if err != nil {
		return err
	}
	if err := b.commit(ctx, batch, before); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, b.cfg.InsertTimeout)
	defer cancel()
	begin := time.Now()
	err = b.table.Insert(limited, batch.table, batch.partitions(), before)
	switch {
	case err == nil:
		b.metrics.insert.Observe(time.Since(begin).Seconds())
		return nil
	case errors.Is(err, stream.ErrNotSent):
		return err
	}
	*d = doubt{exists: true, until: before}
	if _, answered := clickhouse.IsException(err); answered {
		d.until = time.Time{} // the server has had it, so it is among those that run, or has ended
	}
	b.metrics.retries.Inc()
	return err
}

// resolve removes the rows from the batch that an unanswered insert stored.
func (b *batcher) resolve(ctx context.Context, batch *batch, until time.Time) error {
	var partitions []int32
	spans := make([]stream.Span, len(batch.spans))
	for i, s := range batch.spans {
		partitions = append(partitions, s.of.partition)
		spans[i] = stream.Span{Partition: s.of.partition, First: s.first, Last: s.last}
	}
	if err := lastLook(ctx, b.table, partitions, until, b.cfg.RebalanceTimeout); err != nil {
		return err
	}
	stored, err := b.table.Stored(ctx, spans)
	if err != nil {
		return err
	}
	return b.dropFound(ctx, batch, func(s *span) *stream.Offsets { return stored[s.of.partition] })
}

// lastLook returns when no insert of the partitions runs or can still begin that was announced with
// the time. What is stored of them from then on is the caller's. Times are not announced further
// ahead than the longest insert: if the time is, the clock was set back, which it does not wait
// out.
func lastLook(ctx context.Context, t table, partitions []int32, until time.Time, longest time.Duration) error {
	for !until.IsZero() {
		now, err := t.Now(ctx)
		if err != nil {
			return err
		}
		left := until.Sub(now)
		if left < 0 {
			break
		}
		if err := service.Sleep(ctx, min(left, longest)+time.Millisecond); err != nil {
			return err
		}
		if left > longest {
			break
		}
	}
	return t.EndInserts(ctx, partitions)
}

// commit announces the ranges of a batch, which an insert may store until the time, and says of all
// partitions what is done. Without a batch it announces nothing.
func (b *batcher) commit(ctx context.Context, batch *batch, before time.Time) error {
	var commits []commit
	announced := map[*partition]struct{}{}
	add := func(p *partition, last int64) {
		commits = append(commits, commit{p, p.next, p.epoch, stream.Announcement{
			Rules: stream.BlockRules, TopicID: p.place.TopicID, Last: last, Before: before,
		}})
	}
	if batch != nil {
		for _, s := range batch.spans {
			announced[s.of] = struct{}{}
			add(s.of, s.last)
		}
	}
	for p := range b.dirty {
		if _, ok := announced[p]; !ok && !p.givenBack.Load() {
			add(p, stream.NoIntent)
		}
	}
	if len(commits) == 0 {
		return nil
	}
	if err := b.group.commit(ctx, commits); err != nil {
		return err
	}
	clear(b.dirty)
	b.committed = time.Now()
	return nil
}

// setApart inserts the spans of a refused batch one by one. The one that is refused alone is set
// aside, with what comes behind it.
func (b *batcher) setApart(ctx context.Context, batch *batch, d doubt, why error) {
	if len(batch.spans) == 1 {
		p := batch.spans[0].of
		p.aside = append(p.aside, batch.split(batch.spans[0]))
		b.aside[p] = struct{}{}
		began := batch.began
		p.refused.Store(&began)
		p.blocked.Store(true)
		p.logRefused(why)
		return
	}
	for len(batch.spans) > 0 {
		alone := batch.split(batch.spans[0])
		b.insert(ctx, alone, d)
		alone.release(b.buffer)
	}
}

// tryAside tries the first of the batches that were set aside, and reports whether it is stored.
func (b *batcher) tryAside(ctx context.Context, first *batch) bool {
	if !b.prepare(ctx, first) {
		return false
	}
	err := b.try(ctx, first, &doubt{exists: true})
	if err != nil {
		first.spans[0].of.logRefused(err)
		return false
	}
	b.done(first)
	return true
}

// done notes that the spans are stored.
func (b *batcher) done(batch *batch) {
	for _, s := range batch.spans {
		p := s.of
		p.next, p.epoch = s.last+1, s.epoch
		p.progress.Store(p.next)
		p.blocked.Store(false)
		b.dirty[p] = struct{}{}
		for _, letter := range s.dead {
			b.metrics.deadLetters.WithLabelValues(letter.reason).Inc()
		}
	}
	b.metrics.batches.Inc()
	b.metrics.rows.Add(float64(batch.rows()))
	b.metrics.repeats.Add(float64(batch.repeats))
	if batch.rows() > 0 {
		// The collector has a clock of its own.
		b.metrics.freshness.Observe(max(0, float64(time.Now().UnixMilli()-batch.oldest)/1000))
	}
}
