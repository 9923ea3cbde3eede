// Package settled tells up to which time an answer has everything. Events are ClickHouse's, and
// scope knows when they are complete. Submissions, links and lead magnets are Postgres's:
// ClickHouse has copies of them, which come some seconds later.
package settled

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/query/scope"
)

// Clock knows the time. It is safe for concurrent use.
type Clock struct {
	postgres *postgres.Pool
	ch       *scope.ClickHouse
	settled  scope.Settled
}

// New returns a Clock.
func New(p *postgres.Pool, ch *scope.ClickHouse) *Clock { return &Clock{postgres: p, ch: ch} }

// AsOf returns the time up to which everything that was stored is in an answer that is asked for
// after this call: every event by its stored_at, and every submission by its own times. Newer ones
// may be in it as well.
func (c *Clock) AsOf(ctx context.Context) (time.Time, error) {
	if until, ok := c.settled.Get(); ok {
		return until, nil
	}
	asked := time.Now()
	var events, copies time.Time
	group, each := errgroup.WithContext(ctx)
	group.Go(func() (err error) { events, err = c.ch.Settled(each); return err })
	group.Go(func() (err error) { copies, err = c.copied(each); return err })
	if err := group.Wait(); err != nil {
		return time.Time{}, err
	}
	until := events
	if copies = copies.Add(-scope.ClockSlack).Truncate(time.Millisecond).UTC(); copies.Before(until) {
		until = copies
	}
	c.settled.Set(until, asked)
	return until, nil
}

// copied returns a time, by the clock of Postgres, before which no change is missing in ClickHouse,
// now or later.
//
// A change that is committed is on record until ClickHouse has its copy. One that is not committed
// yet cannot be seen there, and may have times as early as the begin of its transaction. So the
// transactions that run are looked for first: one that ends in between has left its record, and one
// that begins later has later times.
func (c *Clock) copied(ctx context.Context) (time.Time, error) {
	q := store.New(c.postgres.Unscoped())
	writer, err := q.OldestWriter(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for transactions that run: %w", err)
	}
	at, err := q.OldestUncopied(ctx, store.OldestUncopiedParams{Before: writer, Copy: 1})
	if err != nil {
		return time.Time{}, fmt.Errorf("look for changes that are not copied: %w", err)
	}
	return at, nil
}
