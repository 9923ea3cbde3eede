package scope

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
)

// A row's stored_at is the time at which its insert began, so a row can appear behind others that
// were stored later. But an insert is on the server's list of processes from before that time until
// its rows can be seen. So what is on the list, read at time t, gives a bound: an insert that began
// before the oldest insert on it, and before t, has ended, and its rows are in whatever is read from
// then on. This needs no assumption about how long an insert may take.
//
// The user of the query service has to see the consumer's inserts on the list: one user for both does.
// It is the list of one server. Where inserts go to several, their lists have to be read together,
// and the delay of replication taken off.
const oldestInsert = `SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) - toInt64(1000 * max(elapsed))
FROM system.processes
WHERE query_kind = 'Insert'`

const (
	// settledSlack is taken off for a clock that is set back a little, and for the time between
	// an insert's arrival and its entry on the list.
	settledSlack = 10 * time.Second
	// settledFresh is how long an answer serves for other requests: an old one is as true as a new one.
	settledFresh = time.Second
)

// Settled is the last time up to which nothing is missing, for as long as it serves. It is safe for concurrent use.
type Settled struct {
	mu    sync.Mutex
	until time.Time
	asked time.Time
}

// Settled returns a time, by the clock of ClickHouse in whole milliseconds, up to which nothing is
// missing: every row whose stored_at is not after it, now or ever, is seen by a query that begins
// after this call. It does not depend on an account.
func (c *ClickHouse) Settled(ctx context.Context) (time.Time, error) {
	if until, ok := c.settled.Get(); ok {
		return until, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	asked := time.Now()
	var milliseconds int64
	err := c.ask(c.unscoped(ctx, "oldest insert"), oldestInsert, func(row Row) error { return row.Scan(&milliseconds) })
	if err != nil {
		return time.Time{}, fmt.Errorf("query oldest insert: %w", err)
	}
	until := time.UnixMilli(milliseconds).Add(-settledSlack).UTC()
	c.settled.Set(until, asked)
	return until, nil
}

// unscoped confines a query that reads no table of accounts.
func (c *ClickHouse) unscoped(ctx context.Context, name string) context.Context {
	return native.Context(ctx, native.WithSettings(c.bounds(name)), native.WithoutProfileEvents())
}

// bounds returns the settings that let a query read only, and take no more than the limits, in a new map.
func (c *ClickHouse) bounds(name string) native.Settings {
	return native.Settings{
		"readonly":           1,
		"max_memory_usage":   c.limits.MemoryBytes,
		"max_execution_time": int64(math.Ceil(c.limits.Timeout.Seconds())),
		"log_comment":        "lodestone query: " + name,
	}
}

// Get returns the time; false: there is none that still serves.
func (s *Settled) Get() (until time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.until, !s.asked.IsZero() && time.Since(s.asked) < settledFresh
}

// Set keeps a time that was asked for at another, unless a later one is kept.
func (s *Settled) Set(until, asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.After(s.asked) {
		s.until, s.asked = until, asked
	}
}
