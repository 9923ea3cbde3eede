package kafka

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Ledger is the PartitionLedger in Postgres.
type Ledger struct{ Pool *postgres.Pool }

// Partitions implements PartitionLedger.
func (l Ledger) Partitions(ctx context.Context, id uuid.UUID, topic string, n int) (recorded int, err error) {
	of, err := store.New(l.Pool.Unscoped()).RecordPartitions(ctx, store.RecordPartitionsParams{TopicID: id, Topic: topic, Partitions: int32(n)})
	if err != nil {
		return 0, fmt.Errorf("read the recorded number of partitions: %w", err)
	}
	return int(of), nil
}
