package counter

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/store"
)

// TryLock takes what a counter needs to count a partition.
func TryLock(ctx context.Context, tx pgx.Tx, topicID uuid.UUID, partition int32) (bool, error) {
	locked, err := store.New(tx).TryLocks(ctx, []int64{span{topicID: topicID, partition: partition}.lockKey()})
	return len(locked) > 0, err
}

// Pass makes one pass, as if the last one had been so long ago.
func (c *Counter) Pass(ctx context.Context, client *kgo.Client, conn driver.Conn, ago time.Duration) error {
	c.begun, c.set = time.Now().Add(-ago), time.Now().Add(-ago)
	return c.catchUp(ctx, client, conn)
}

const (
	FarBehind = farBehind
	FarPause  = farPause
)

// Often makes it look all the time.
func (e *ExceededQuotas) Often() { e.interval = 10 * time.Millisecond }
