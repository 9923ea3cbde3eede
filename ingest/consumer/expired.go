package consumer

import (
	"context"
	"fmt"
	"math"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// recordExpired records which offsets Kafka deleted before they were stored, and commits the log's
// start: nothing brings those records back, and Kafka would go on deleting while the partition
// waited. It may be repeated at any point, also by another consumer. It reports whether the worker
// may go on.
func (t *takeover) recordExpired(ctx context.Context, p *partition, committed int64) bool {
	tries, alone := retrier{p.log, t.batcher.several}, []*partition{p}
	var lost []kafka.Range
	ok := tries.retry(ctx, alone, "find out which deleted records were stored", func() (err error) {
		lost, err = t.lost(ctx, p, committed)
		return err
	})
	if !ok {
		return false
	}
	ok = tries.retry(ctx, alone, "record which records are lost", func() error { return t.addLost(ctx, p, lost) })
	if !ok {
		return false
	}
	for _, r := range lost {
		p.metrics.lost.Add(float64(r.To - r.From))
		p.log.Error("Kafka deleted records before they were stored; the partition continues after them",
			"first_offset", r.From, "last_offset", r.To-1, "records", r.To-r.From)
	}
	done := commit{p, p.next, noEpoch, stream.Announcement{Rules: stream.BlockRules,
		TopicID: p.place.TopicID, Last: stream.NoIntent}}
	return tries.retry(ctx, alone, "commit", func() error { return t.batcher.group.commit(ctx, []commit{done}) })
}

// addLost puts the ranges on record.
func (t *takeover) addLost(ctx context.Context, p *partition, lost []kafka.Range) error {
	q := store.New(t.pool.Unscoped())
	for _, r := range lost {
		err := q.AddLostRange(ctx, store.AddLostRangeParams{
			TopicID: p.place.TopicID, Copy: t.copy, Topic: p.topic, Partition: p.partition,
			FirstOffset: r.From, PastOffset: r.To,
		})
		if err != nil {
			return fmt.Errorf("record lost offsets: %w", err)
		}
	}
	return nil
}

// lost returns the offsets from the committed one to where the log begins that are not stored.
// Without a commit nothing is known of what lies below the last stored offset, where repeats and
// dead letters have no rows either.
func (t *takeover) lost(ctx context.Context, p *partition, committed int64) ([]kafka.Range, error) {
	stored, err := t.table.Last(ctx,
		[]stream.Span{{Partition: p.partition, First: max(committed, 0), Last: math.MaxInt64}})
	if err != nil {
		return nil, err
	}
	last, known := stored[p.partition]
	if !known {
		last = max(committed, 0) - 1
	}
	from := committed
	if from == noCommit {
		from = last + 1
	}
	var lost []kafka.Range
	add := func(r kafka.Range) {
		switch n := len(lost); {
		case r.Empty():
		case n > 0 && lost[n-1].To == r.From:
			lost[n-1].To = r.To
		default:
			lost = append(lost, r)
		}
	}
	for past := min(last+1, p.next); from < past; {
		to := min(from+aheadOffsets, past)
		stored, err := t.table.Stored(ctx, []stream.Span{{Partition: p.partition, First: from, Last: to - 1}})
		if err != nil {
			return nil, err
		}
		for ; from < to; from++ {
			if !stored[p.partition].Has(from) {
				add(kafka.Range{From: from, To: from + 1})
			}
		}
	}
	add(kafka.Range{From: from, To: p.next})
	return lost, nil
}
