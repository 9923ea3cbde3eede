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
	Dial   func(context.Context) (*ch.Client, error) // connects to the shard
	Log    *slog.Logger
	Health *Health // may be nil

	conn   *ch.Client
	server time.Time // what the server's clock showed when it was asked last; zero: ask
	asked  time.Time // when its answer came
}

// open connects unless it is connected.
func (c *Connection) open(ctx context.Context) error {
	if c.conn != nil && !c.conn.IsClosed() {
		return nil
	}
	conn, err := c.Dial(ctx)
	if err != nil {
		c.Health.failed(ctx, err)
		return fmt.Errorf("connect to ClickHouse: %w", err)
	}
	c.conn, c.server = conn, time.Time{}
	return nil
}

// do runs a statement.
func (c *Connection) do(ctx context.Context, q ch.Query) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	// The library notices the end of ctx only when its wait for the next packet ends, after seconds.
	// What the server has received of an insert may still be stored: whoever gave up looks at what is
	// stored, as after any error.
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := conn.Do(ctx, q)
	if !stop() || err != nil { // a close that is under way would hit the next statement
		c.Close()
	}
	if err != nil {
		c.Health.failed(ctx, err)
		return err
	}
	c.Health.Succeeded()
	return nil
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

// Now returns what the server's clock shows, rather too early than too late.
func (c *Connection) Now(ctx context.Context) (time.Time, error) {
	var now proto.ColInt64
	if err := c.do(ctx, ch.Query{
		Body:   "SELECT toUnixTimestamp64Milli(now64(3)) AS now",
		Result: proto.Results{{Name: "now", Data: &now}},
	}); err != nil {
		return time.Time{}, fmt.Errorf("ask ClickHouse for its time: %w", err)
	}
	// It was that time when the question came at the earliest, and the answer is here now.
	c.server, c.asked = time.UnixMilli(now.Row(0)), time.Now()
	return c.server, nil
}

// Before returns what the server's clock is going to show after so long, rather too early than too
// late. The server is asked again and again, so neither clock needs to be right.
func (c *Connection) Before(ctx context.Context, after time.Duration) (time.Time, error) {
	if c.server.IsZero() || time.Since(c.asked) > askAgain {
		if _, err := c.Now(ctx); err != nil {
			return time.Time{}, err
		}
	}
	return c.server.Add(time.Since(c.asked) + after), nil
}
