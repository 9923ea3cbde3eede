package counter

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// RecountAll sets the counters of every link by everything that is stored in the copy of the events
// that counts, with the number; else the error is ErrTurn. It counts whatever topic an event came
// from, including links without events. It may run beside the service, and be interrupted and
// started again. After each chunk it calls done with the number of links since the beginning.
func RecountAll(ctx context.Context, pool *postgres.Pool, number int32, conn driver.Conn, done func(links int)) error {
	total := 0
	for _, k := range kinds() {
		after := uuid.Nil
		for {
			rows, err := store.New(pool.Unscoped()).LinksAfter(ctx,
				store.LinksAfterParams{Generic: k.topic == event.LinkViewTopic, After: after, MaxLinks: historyLinks})
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
			if err := setLinks(ctx, pool, number, conn, k, chunk); err != nil {
				return err
			}
			after = chunk[len(chunk)-1].id
			total += len(chunk)
			done(total)
		}
	}
	return nil
}
