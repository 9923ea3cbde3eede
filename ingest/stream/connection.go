package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/clickhouse"
)

// Connection is a connection to ClickHouse, opened when it is needed. After any error it connects
// again, since the state of the old connection is unknown. It is used by one goroutine at a time.
type Connection struct {
	Dial   func(context.Context) (*ch.Client, error) // connects to the shard; not needed with Shared
	Log    *slog.Logger
	Health *Health // may be nil
	Shared Shared  // nil: the connection is its own; else each statement takes one of these, and nothing else is needed

	conn   *ch.Client
	server time.Time // what the server's clock showed when it was asked last; zero: ask
	asked  time.Time // when its answer came

	used time.Time                  // when a statement succeeded last
	lost *atomic.Pointer[time.Time] // of a pool: when a statement lost its connection last
}

// Shared is a pool of connections for many stores: a server refuses connections beyond its
// max_connections, those of readers as well. It is safe for concurrent use.
//
// Exactly once rests on these, which are the same as if each store had a connection of its own:
//   - A statement has the connection to itself until its answer came or the connection is closed, so whoever waits for the statement
//     knows that this process sends nothing more of it.
//   - A connection whose answer is unknown is closed. The next statement dials.
//   - A statement waits for one connection and holds none meanwhile, so a free one comes.
//
// A server that was away has ended all of its connections. Once a statement has found that out,
// those that were not used since are opened again: a partition that alone still waits would lose a
// try, and the pause after it, to each of them.
type Shared chan *Connection

// NewShared returns a pool of n connections like the one given, which are not open yet.
func NewShared(n int, like Connection) Shared {
	s, lost := make(Shared, n), &atomic.Pointer[time.Time]{}
	for range n {
		s <- &Connection{Dial: like.Dial, Log: like.Log, Health: like.Health, lost: lost}
	}
	return s
}

// Close closes the connections once all of them are free. They may be used again.
func (s Shared) Close() {
	for range cap(s) {
		c := <-s
		c.Close()
		s <- c
	}
}

// borrow returns the connection for one statement, or for several that need the same one, and what
// gives it back.
func (c *Connection) borrow(ctx context.Context) (own *Connection, giveBack func(), err error) {
	if c.Shared == nil {
		return c, func() {}, nil
	}
	select {
	case own := <-c.Shared:
		return own, func() { c.Shared <- own }, nil
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("wait for a connection to ClickHouse: %w", context.Cause(ctx))
	}
}

func (c *Connection) do(ctx context.Context, q ch.Query) error {
	own, giveBack, err := c.borrow(ctx)
	if err != nil {
		return err
	}
	defer giveBack()
	return own.run(ctx, q)
}

func (c *Connection) run(ctx context.Context, q ch.Query) error {
	if c.isStale() {
		c.Close()
	}
	if c.conn == nil || c.conn.IsClosed() {
		conn, err := c.Dial(ctx)
		if err != nil {
			c.Health.failed(ctx, err)
			return fmt.Errorf("connect to ClickHouse: %w", err)
		}
		c.conn, c.server = conn, time.Time{}
	}
	// The library notices the end of ctx only when its wait for the next packet ends, after seconds.
	// What the server has received of an insert may still be stored: whoever gave up looks at what is
	// stored, as after any error.
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := conn.Do(ctx, q)
	if !stop() || err != nil { // a close that is under way would hit the next statement, of another store
		c.Close()
	}
	if err != nil {
		c.Health.failed(ctx, err)
		c.noteLost(ctx, err)
		return err
	}
	c.used = time.Now()
	c.Health.Succeeded()
	return nil
}

// isStale reports whether another connection of the pool was lost after this one was used.
func (c *Connection) isStale() bool {
	if c.lost == nil {
		return false
	}
	at := c.lost.Load()
	return at != nil && c.used.Before(*at)
}

// noteLost records an error that is neither an answer nor the caller's.
func (c *Connection) noteLost(ctx context.Context, err error) {
	if _, answered := clickhouse.IsException(err); answered || c.lost == nil || ctx.Err() != nil {
		return
	}
	now := time.Now()
	c.lost.Store(&now)
}

// Health records since when ClickHouse does not answer, and whether it refused anything. It is safe
// for concurrent use; a nil Health records nothing.
type Health struct {
	since   atomic.Pointer[time.Time]
	refuses atomic.Bool
}

// Refused reports whether anything was refused since it was called before.
func (h *Health) Refused() bool { return h.refuses.Swap(false) }

// failed records an error of a statement or a login.
func (h *Health) failed(ctx context.Context, err error) {
	if h == nil {
		return
	}
	if _, answered := clickhouse.IsException(err); answered {
		h.refuses.Store(true)
	} else if ctx.Err() == nil {
		now := time.Now()
		h.since.CompareAndSwap(nil, &now)
	}
}

// Succeeded records that ClickHouse answered without an error.
func (h *Health) Succeeded() {
	if h != nil {
		h.since.Store(nil)
	}
}

// SilentFor reports whether nothing was answered for so long, since the first failure.
func (h *Health) SilentFor(than time.Duration) bool {
	since := h.since.Load()
	return since != nil && time.Since(*since) > than
}

// Close closes the connection. It may be used again.
func (c *Connection) Close() {
	if c.conn == nil {
		return
	}
	if err := c.conn.Close(); err != nil && !errors.Is(err, ch.ErrClosed) {
		c.Log.Debug("close connection to ClickHouse", "error", err)
	}
	c.conn, c.server = nil, time.Time{}
}

// askAgain is how long an answer about the server's clock is good for.
const askAgain = 2 * time.Second

// bound returns what the server's clock is going to show at the deadline, rather too early than too
// late. The server is asked again and again, so neither clock needs to be right.
func (c *Connection) bound(ctx context.Context, deadline time.Time) (time.Time, error) {
	if c.server.IsZero() || time.Since(c.asked) > askAgain {
		var now proto.ColInt64
		if err := c.do(ctx, ch.Query{
			Body:   "SELECT toUnixTimestamp64Milli(now64(3)) AS now",
			Result: proto.Results{{Name: "now", Data: &now}},
		}); err != nil {
			return time.Time{}, fmt.Errorf("ask ClickHouse for its time: %w", err)
		}
		// It was that time when the question came at the earliest, and the answer is here now.
		c.server, c.asked = time.UnixMilli(now.Row(0)), time.Now()
	}
	return c.server.Add(time.Since(c.asked) + remaining(deadline)), nil
}

// remaining returns the time until the deadline by the monotonic clock, which cannot be set, or by
// the time of day if that is less: the monotonic clock stands still while the machine is suspended.
// A clock that is set ahead costs one try.
func remaining(deadline time.Time) time.Duration {
	now := time.Now()
	return min(deadline.Sub(now), deadline.Round(0).Sub(now.Round(0)))
}
