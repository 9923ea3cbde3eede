package logbook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/kafka"
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
		if _, err := tx.Exec(ctx, "LOCK TABLE lost_ranges IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		known, err := losses(ctx, tx, "topic_id = $1 AND partition = $2", topicID, partition)
		if err != nil {
			return err
		}
		for _, r := range lost {
			for _, k := range known { // in order of their offsets
				if err := addLoss(ctx, tx, topicID, topic, partition, kafka.Range{From: r.From, To: min(r.To, k.Offsets.From)}); err != nil {
					return err
				}
				r.From = max(r.From, min(r.To, k.Offsets.To))
			}
			if err := addLoss(ctx, tx, topicID, topic, partition, r); err != nil {
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

func addLoss(ctx context.Context, tx pgx.Tx, topicID uuid.UUID, topic string, partition int32, r kafka.Range) error {
	if r.Empty() {
		return nil
	}
	_, err := tx.Exec(ctx, "INSERT INTO lost_ranges (topic_id, topic, partition, first_offset, last_offset) VALUES ($1, $2, $3, $4, $5)",
		topicID, topic, partition, r.From, r.To-1)
	return err
}

// Losses returns the recorded ranges in the order of topic, partition and offset: all of them, or those that are not
// acknowledged.
func (l *Book) Losses(ctx context.Context, acknowledged bool) ([]Loss, error) {
	all, err := losses(ctx, l.pool.Unscoped(), "$1 OR acknowledged_at IS NULL", acknowledged)
	if err != nil {
		return nil, fmt.Errorf("read lost offsets: %w", err)
	}
	return all, nil
}

// Acknowledge ends the alarm of lost ranges, with a note for later readers. It returns the number of ranges that were
// not acknowledged before.
func (l *Book) Acknowledge(ctx context.Context, note string, numbers ...int64) (int64, error) {
	done, err := l.pool.Unscoped().Exec(ctx,
		"UPDATE lost_ranges SET acknowledged_at = now(), note = $1 WHERE number = ANY($2) AND acknowledged_at IS NULL", note, numbers)
	if err != nil {
		return 0, fmt.Errorf("acknowledge lost offsets: %w", err)
	}
	return done.RowsAffected(), nil
}

// Unacknowledged returns the number of lost offsets that are not acknowledged.
func (l *Book) Unacknowledged(ctx context.Context) (n int64, err error) {
	err = l.pool.Unscoped().QueryRow(ctx,
		"SELECT coalesce(sum(last_offset - first_offset + 1), 0)::bigint FROM lost_ranges WHERE acknowledged_at IS NULL").Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read lost offsets: %w", err)
	}
	return n, nil
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func losses(ctx context.Context, q querier, where string, args ...any) ([]Loss, error) {
	rows, err := q.Query(ctx, `SELECT number, topic_id, topic, partition, first_offset, last_offset + 1, found_at, acknowledged_at, coalesce(note, '')
		FROM lost_ranges WHERE `+where+` ORDER BY topic, topic_id, partition, first_offset`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Loss
	for rows.Next() {
		var s Loss
		if err := rows.Scan(&s.Number, &s.TopicID, &s.Topic, &s.Partition, &s.Offsets.From, &s.Offsets.To, &s.FoundAt, &s.AcknowledgedAt, &s.Note); err != nil {
			return nil, errors.Join(err, rows.Err())
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
