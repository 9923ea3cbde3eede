package consumer

import (
	"context"
	"fmt"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// recordExpired records which offsets Kafka deleted before they were stored, and commits the log's
// start: nothing brings those records back, and Kafka would go on deleting while the partition
// waited. It may be repeated at any point, also by another consumer. It reports whether the worker
// may go on.
func (w *worker) recordExpired(ctx context.Context, e *expired) bool {
	if e.intent != stream.NoIntent && service.Sleep(ctx, w.cfg.InsertTimeout) != nil {
		// The announced block cannot be built again, so its token does not stop an insert that is still
		// on its way. After this time the server refuses that.
		return false
	}
	var lost []kafka.Range
	ok := w.retry(ctx, "find out which deleted records were stored", func() error {
		if err := w.store.EndInserts(ctx); err != nil {
			return err
		}
		var err error
		lost, err = w.lost(ctx, e.committed)
		return err
	})
	if !ok {
		return false
	}
	ok = w.retry(ctx, "record which records are lost", func() error { return w.addLost(ctx, lost) })
	if !ok {
		return false
	}
	for _, r := range lost {
		w.metrics.lost.Add(float64(r.To - r.From))
		w.log.Error("Kafka deleted records before they were stored; the partition goes on behind them",
			"first_offset", r.From, "last_offset", r.To-1, "records", r.To-r.From)
	}
	return w.commit(ctx, w.next, stream.NoIntent)
}

// addLost puts the ranges on record.
func (w *worker) addLost(ctx context.Context, lost []kafka.Range) error {
	q := store.New(w.pool.Unscoped())
	for _, r := range lost {
		err := q.AddLostRange(ctx, store.AddLostRangeParams{
			TopicID: w.at.TopicID, Topic: w.stream.Topic, Partition: w.at.Partition, FirstOffset: r.From, PastOffset: r.To,
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
func (w *worker) lost(ctx context.Context, committed int64) ([]kafka.Range, error) {
	last, err := w.store.Last(ctx, max(committed, 0))
	if err != nil {
		return nil, err
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
	for past := min(last+1, w.next); from < past; {
		to := min(from+aheadOffsets, past)
		stored, err := w.store.Stored(ctx, from, to-1)
		if err != nil {
			return nil, err
		}
		for ; from < to; from++ {
			if !stored.Has(from) {
				add(kafka.Range{From: from, To: from + 1})
			}
		}
	}
	add(kafka.Range{From: from, To: w.next})
	return lost, nil
}
