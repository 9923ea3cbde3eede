package logbook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// Loss is a range of a partition that Kafka deleted before it was stored.
type Loss struct {
	Number         int64
	TopicID        uuid.UUID
	Topic          string
	Partition      int32
	Offsets        kafka.Range
	FoundAt        time.Time
	AcknowledgedAt *time.Time // nil: not yet
	Note           string     // by the person who acknowledged it
}

// AddLosses records the offsets of the ranges that are not recorded yet, so it may be repeated, also after Kafka
// deleted more. Ranges are in order and do not overlap.
func (l *Book) AddLosses(ctx context.Context, topicID uuid.UUID, topic string, partition int32, lost []kafka.Range) error {
	err := l.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.LockLosses(ctx); err != nil {
			return err
		}
		known, err := q.LossesOf(ctx, store.LossesOfParams{TopicID: topicID, Partition: partition})
		if err != nil {
			return err
		}
		add := func(r kafka.Range) error {
			if r.Empty() {
				return nil
			}
			return q.AddLoss(ctx, store.AddLossParams{TopicID: topicID, Topic: topic, Partition: partition, FirstOffset: r.From, LastOffset: r.To - 1})
		}
		for _, r := range lost {
			for _, k := range known { // in order of their offsets
				if err := add(kafka.Range{From: r.From, To: min(r.To, k.FirstOffset)}); err != nil {
					return err
				}
				r.From = max(r.From, min(r.To, k.LastOffset+1))
			}
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record lost offsets: %w", err)
	}
	return nil
}

// Losses returns the recorded ranges in the order of topic, partition and offset: all of them, or those that are not
// acknowledged.
func (l *Book) Losses(ctx context.Context, acknowledged bool) ([]Loss, error) {
	rows, err := l.queries().Losses(ctx, acknowledged)
	if err != nil {
		return nil, fmt.Errorf("read lost offsets: %w", err)
	}
	var all []Loss
	for _, r := range rows {
		s := Loss{
			Number: r.Number, TopicID: r.TopicID, Topic: r.Topic, Partition: r.Partition, Offsets: kafka.Range{From: r.FirstOffset, To: r.LastOffset + 1},
			FoundAt: r.FoundAt, AcknowledgedAt: r.AcknowledgedAt,
		}
		if r.Note != nil {
			s.Note = *r.Note
		}
		all = append(all, s)
	}
	return all, nil
}

// Acknowledge ends the alarm of lost ranges, with a note for later readers. It returns the number of ranges that were
// not acknowledged before.
func (l *Book) Acknowledge(ctx context.Context, note string, numbers ...int64) (int64, error) {
	done, err := l.queries().AcknowledgeLosses(ctx, store.AcknowledgeLossesParams{Note: note, Numbers: numbers})
	if err != nil {
		return 0, fmt.Errorf("acknowledge lost offsets: %w", err)
	}
	return done, nil
}

// Unacknowledged returns the number of lost offsets that are not acknowledged.
func (l *Book) Unacknowledged(ctx context.Context) (n int64, err error) {
	if n, err = l.queries().UnacknowledgedOffsets(ctx); err != nil {
		return 0, fmt.Errorf("read lost offsets: %w", err)
	}
	return n, nil
}
