package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Ledger is the PartitionLedger in Postgres.
type Ledger struct{ Pool *postgres.Pool }

// Partitions implements PartitionLedger.
func (l Ledger) Partitions(ctx context.Context, id uuid.UUID, topic string, n int) (recorded int, err error) {
	for {
		n, err := store.New(l.Pool.Unscoped()).RecordPartitions(ctx, store.RecordPartitionsParams{TopicID: id,
			Topic: topic, Partitions: int32(n)})
		if errors.Is(err, pgx.ErrNoRows) {
			continue // another process recorded it at the same time: the next read sees it
		}
		if err != nil {
			return 0, fmt.Errorf("read the recorded number of partitions: %w", err)
		}
		return int(n), nil
	}
}
