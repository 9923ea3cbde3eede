package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Ledger is the PartitionLedger in Postgres.
type Ledger struct{ Pool *postgres.Pool }

// Partitions implements PartitionLedger.
func (l Ledger) Partitions(ctx context.Context, id uuid.UUID, topic string, n int) (recorded int, err error) {
	for {
		n, err := store.New(l.Pool.Unscoped()).RecordPartitions(ctx, store.RecordPartitionsParams{TopicID: id, Topic: topic, Partitions: int32(n)})
		if errors.Is(err, pgx.ErrNoRows) {
			continue // another process recorded it at the same time: the next read sees it
		}
		if err != nil {
			return 0, fmt.Errorf("read the recorded number of partitions: %w", err)
		}
		return int(n), nil
	}
}

// Accept puts the present number of partitions on record, whatever was there.
func (l Ledger) Accept(ctx context.Context, cl *kgo.Client) error {
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		id, n, err := Topic(ctx, cl, topic)
		if err != nil {
			return err
		}
		if err := store.New(l.Pool.Unscoped()).AcceptPartitions(ctx, store.AcceptPartitionsParams{TopicID: id, Topic: topic, Partitions: int32(n)}); err != nil {
			return fmt.Errorf("record the number of partitions: %w", err)
		}
	}
	return nil
}
