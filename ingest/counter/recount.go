package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Recount counts the rows of the topic's partition from the offset first to last. It is for rows that were stored late, below
// the counted progress, where the service does not look again. Counting twice changes nothing, and it may run beside the
// service.
func Recount(ctx context.Context, pool *postgres.Pool, conn driver.Conn, topic string, topicID uuid.UUID, partition int32, first, last int64) error {
	for _, k := range kinds() {
		if k.topic != topic {
			continue
		}
		for from := first; from <= last; from += spanOffsets {
			if err := recountSpan(ctx, pool, conn, k, span{topicID: topicID, partition: partition, from: from, to: min(last+1, from+spanOffsets)}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("count again: nothing is counted from topic %s", topic)
}

func recountSpan(ctx context.Context, pool *postgres.Pool, conn driver.Conn, k kind, s span) error {
	for {
		err := pool.Transaction(ctx, func(tx pgx.Tx) error {
			if err := s.lock(ctx, tx); err != nil {
				return err
			}
			q := store.New(tx)
			at, err := q.PartitionProgress(ctx, store.PartitionProgressParams{TopicID: s.topicID, Partition: s.partition})
			if err != nil {
				return fmt.Errorf("read the counters' progress: %w", err)
			}
			added, err := k.read(ctx, conn, s)
			if err != nil {
				return err
			}
			return s.add(ctx, q, added, true, at.NextOffset)
		})
		var stale staleError
		if !errors.As(err, &stale) {
			return err
		}
		if s, err = s.withSet(ctx, pool, conn, k, stale); err != nil {
			return err
		}
	}
}

// RecountAll sets the counters of every link by everything that is stored, whatever topic it came from, including links without
// events. It may run beside the service, and be interrupted and started again. After each chunk it calls done with the number
// of links since the beginning.
func RecountAll(ctx context.Context, pool *postgres.Pool, conn driver.Conn, done func(links int)) error {
	total := 0
	for _, k := range kinds() {
		after := uuid.Nil
		for {
			rows, err := store.New(pool.Unscoped()).LinksAfter(ctx, store.LinksAfterParams{Generic: k.topic == event.LinkViewTopic, After: after, MaxLinks: historyLinks})
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
			if err := setLinks(ctx, pool, conn, k, chunk); err != nil {
				return err
			}
			after = chunk[len(chunk)-1].id
			total += len(chunk)
			done(total)
		}
	}
	return nil
}
