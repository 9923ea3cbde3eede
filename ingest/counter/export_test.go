package counter

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TryLock takes what a counter needs to count a partition.
func TryLock(ctx context.Context, tx pgx.Tx, topicID uuid.UUID, partition int32) (bool, error) {
	return span{topicID: topicID, partition: partition}.tryLock(ctx, tx)
}
