package scope

import (
	"context"
	"sync"
	"time"
)

// A row's stored_at is the time at which its insert began, so a row can appear behind others that
// were stored later. But an insert is on the server's list of processes from before that time until
// its rows can be seen. So what is on the list, read at time t, gives a bound: an insert that began
// before the oldest insert on it, and before t, has ended, and its rows are in whatever is read
// from then on. This needs no assumption about how long an insert may take.
//
// The user of the query service has to see the consumer's inserts on the list: one user for both
// does. Each shard has a list and a clock of its own (earliest).
const oldestInsert = `SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) AS now, now - toInt64(1000 * max(elapsed))
FROM system.processes
WHERE query_kind = 'Insert'`

const (
	// ClockSlack is taken off for a clock that is set back a little, and for the time between
	// an insert's arrival and its entry on the list.
	ClockSlack = 10 * time.Second
	// settledFresh is how long an answer serves for other requests: an old one is as true as a new
	// one.
	settledFresh = time.Second
)

// settledTime is the last time up to which nothing is missing, for as long as it serves. It is safe
// for concurrent use.
type settledTime struct {
	mu    sync.Mutex
	copy  int32 // of the events
	until time.Time
	asked time.Time
}

// Settled returns a time, by the clock of ClickHouse in whole milliseconds, up to which nothing is
// missing: every row whose stored_at is not after it, now or ever, is seen by a query that begins
// after this call. It does not depend on an account.
func (c *ClickHouse) Settled(ctx context.Context) (time.Time, error) {
	if until, ok := c.settled.get(c.Copy(ctx)); ok {
		c.copies.fix(ctx)
		return until, nil
	}
	asked := time.Now()
	oldest, _, err := c.earliest(ctx, "oldest insert", oldestInsert)
	if err != nil {
		return time.Time{}, err
	}
	until := oldest.Add(-ClockSlack)
	c.settled.set(c.Copy(ctx), until, asked)
	return until, nil
}

// get returns the time of a copy of the events; false: there is none that still serves.
func (s *settledTime) get(number int32) (until time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.until, s.copy == number && !s.asked.IsZero() && time.Since(s.asked) < settledFresh
}

// set keeps a time of a copy that was asked for at another, unless a later one is kept.
func (s *settledTime) set(number int32, until, asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.After(s.asked) {
		s.copy, s.until, s.asked = number, until, asked
	}
}
