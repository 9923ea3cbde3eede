package counter

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
)

// Recount sets the counters of the links that have rows of the topic's partition from the offset
// first to last. It is for rows that were stored late, below what the counters reflect already,
// which the service would not look at again. Counting twice changes nothing, and it may run beside
// the service: the same lock orders them.
func Recount(ctx context.Context, pool *postgres.Pool, conn driver.Conn, topic string, topicID uuid.UUID, partition int32, first, last int64) error {
	for _, k := range kinds() {
		if k.topic != topic {
			continue
		}
		return pool.Transaction(ctx, func(tx pgx.Tx) error {
			_, err := countSpan(ctx, tx, conn, k, span{topicID: topicID, partition: partition, from: first, to: last + 1})
			return err
		})
	}
	return fmt.Errorf("count again: nothing is counted from topic %s", topic)
}
