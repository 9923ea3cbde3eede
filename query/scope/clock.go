package scope

import (
	"context"
	"fmt"
	"time"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// SettledClock knows the time up to which an answer has everything. Events are ClickHouse's, and
// ClickHouse knows when they are complete. Submissions, links and lead magnets are Postgres's:
// ClickHouse has copies of them, which come some seconds later. It is safe for concurrent use.
type SettledClock struct {
	postgres *postgres.Pool
	ch       *ClickHouse
	settled  settledTime
}

// NewSettledClock returns a SettledClock.
func NewSettledClock(p *postgres.Pool, ch *ClickHouse) *SettledClock {
	return &SettledClock{postgres: p, ch: ch}
}

// AsOf returns the time up to which everything that was stored is in an answer that is asked for
// after this call: every event by its stored_at, and every submission by its own times. Newer ones
// may be in it as well.
func (c *SettledClock) AsOf(ctx context.Context) (time.Time, error) {
	asked := time.Now()
	until, err := c.ch.Settled(ctx) // first: from then on it is known which copy of the events answers
	if err != nil {
		return time.Time{}, err
	}
	of := c.ch.Copy(ctx)
	if until, ok := c.settled.get(of); ok {
		return until, nil
	}
	mirrored, err := c.mirrored(ctx, of)
	if err != nil {
		return time.Time{}, err
	}
	until = earlier(until, mirrored)
	if has, known := c.ch.Has(ctx); known {
		until = earlier(until, has)
	}
	c.settled.set(of, until, asked)
	return until, nil
}

// earlier returns a time by the clock of ClickHouse, or one by another clock if that is before it.
func earlier(t, other time.Time) time.Time {
	if other = other.Add(-ClockSlack).Truncate(time.Millisecond).UTC(); other.Before(t) {
		return other
	}
	return t
}

// mirrored returns a time, by the clock of Postgres, before which no change is missing in a copy of
// the events, now or later.
//
// A change that is committed is on record until ClickHouse has its copy. One that is not committed
// yet cannot be seen there, and may have times as early as the begin of its transaction. So the
// transactions that run are looked for first: one that ends in between has left its record, and one
// that begins later has later times.
func (c *SettledClock) mirrored(ctx context.Context, number int32) (time.Time, error) {
	q := store.New(c.postgres.Unscoped())
	writer, err := q.OldestWriter(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for transactions that run: %w", err)
	}
	at, err := q.OldestUncopied(ctx, store.OldestUncopiedParams{Before: writer, Copy: number})
	if err != nil {
		return time.Time{}, fmt.Errorf("look for changes that are not copied: %w", err)
	}
	return at, nil
}
