package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/retention"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Recount sets the counters of the links that have rows of the topic's partition from the offset first to last. It is
// for rows that were stored late, below the counted progress, where the service does not look again. Counting twice
// changes nothing, and it may run beside the service: the same lock orders them.
func Recount(ctx context.Context, pool *postgres.Pool, conn driver.Conn, topic string, topicID uuid.UUID, partition int32, first, last int64) error {
	for _, k := range kinds() {
		if k.topic != topic {
			continue
		}
		touched, err := readTouched(ctx, conn, k, span{topicID: topicID, partition: partition, from: first, to: last + 1})
		if err != nil {
			return err
		}
		for chunk := range slices.Chunk(touched, chunkLinks) {
			if err := recount(ctx, pool, conn, k, chunk); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("count again: nothing is counted from topic %s", topic)
}

// RecountAll sets the counters of every link, whatever topic its events came from, including links without events. It
// may run beside the service, and be interrupted and started again. After each chunk it calls done with the number of
// links since the beginning.
func RecountAll(ctx context.Context, pool *postgres.Pool, conn driver.Conn, done func(links int)) error {
	total := 0
	for _, k := range kinds() {
		after := uuid.Nil
		for {
			rows, err := store.New(pool.Unscoped()).LinksAfter(ctx, store.LinksAfterParams{Generic: k.topic == event.LinkViewTopic, After: after, MaxLinks: chunkLinks})
			if err != nil {
				return fmt.Errorf("list links: %w", err)
			}
			if len(rows) == 0 {
				break
			}
			chunk := make([]link, len(rows))
			for i, r := range rows {
				chunk[i] = link{account: r.AccountID, id: r.ID}
			}
			if err := recount(ctx, pool, conn, k, chunk); err != nil {
				return err
			}
			after = chunk[len(chunk)-1].id
			total += len(chunk)
			done(total)
		}
	}
	return nil
}

// recount sets the counters of links while it holds the lock.
func recount(ctx context.Context, pool *postgres.Pool, conn driver.Conn, k kind, links []link) error {
	for {
		err := pool.Transaction(ctx, func(tx pgx.Tx) error {
			if err := retention.Lock(ctx, tx); err != nil {
				return err
			}
			return setCounters(ctx, conn, tx, k, links)
		})
		if !errors.Is(err, errBusy) {
			return err
		}
	}
}
