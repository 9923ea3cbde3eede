package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/retention"
	"lodestone/pkg/event"
	"lodestone/pkg/store"
)

// convert makes counters for the next links from before there were any. One process does it at a time, a few links in each pass,
// and others that have new events meanwhile get theirs at once. An interrupted pass is repeated.
func (c *Counter) convert(ctx context.Context, conn driver.Conn) error {
	if c.converted {
		return nil
	}
	return c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("keep the conversion of counters locked: %w", err)
		}
		at, err := q.NextConversion(ctx)
		if errors.Is(err, pgx.ErrNoRows) { // finished, or another process is at it
			c.converted, err = q.Converted(ctx)
		}
		if err != nil || at.LinksBefore.IsZero() {
			return err //nolint:wrapcheck // catchUp's errors say what it was at
		}
		next := store.SetConversionParams{AccessLinksAfter: at.AccessLinksAfter, GenericLinksAfter: at.GenericLinksAfter, Finished: true}
		for _, k := range kinds() {
			generic := k.topic == event.LinkViewTopic
			after := &next.AccessLinksAfter
			if generic {
				after = &next.GenericLinksAfter
			}
			rows, err := q.LinksToConvert(ctx, store.LinksToConvertParams{Generic: generic, After: *after, LinksBefore: at.LinksBefore, MaxLinks: historyLinks})
			if err != nil {
				return fmt.Errorf("list links to convert: %w", err)
			}
			if len(rows) == 0 {
				continue
			}
			links := make([]link, len(rows))
			for i, r := range rows {
				links[i] = link{r.AccountID, r.ID}
			}
			if err := setLinks(ctx, c.pool, conn, k, links, true); err != nil {
				return err
			}
			*after, next.Finished = rows[len(rows)-1].ID, false
		}
		// Links may still be made that count as old ones.
		next.Finished = next.Finished && time.Now().After(at.LinksBefore.Add(time.Hour))
		if err := q.SetConversion(ctx, next); err != nil {
			return fmt.Errorf("write down the conversion of counters: %w", err)
		}
		return nil
	})
}

// forgetMinutes forgets the views by minute that no late view is expected to be added to.
func (c *Counter) forgetMinutes(ctx context.Context) error {
	if time.Since(c.forgot) < forgetEvery {
		return nil
	}
	before := time.Now().Add(-keepFor).Truncate(time.Minute)
	for {
		n, err := store.New(c.pool.Unscoped()).ForgetMinutes(ctx, before)
		if err != nil {
			return fmt.Errorf("forget minutes of landing pages: %w", err)
		}
		if n == 0 {
			c.forgot = time.Now()
			return nil
		}
	}
}

// finishRetention deletes the rest of a month whose deletion was interrupted.
func (c *Counter) finishRetention(ctx context.Context, conn driver.Conn) error {
	if time.Since(c.finished) < lookAgain {
		return nil
	}
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if shared, err := retention.TryShare(ctx, tx); err != nil || !shared {
			return err // a process is at it
		}
		return retention.Finish(ctx, conn)
	})
	if err == nil {
		c.finished = time.Now()
	}
	return err
}
