package scope

import (
	"context"
	"sync/atomic"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
)

// Use is the processor time that queries took on the server. It is safe for concurrent use.
type Use struct{ scheduled, ticked atomic.Int64 } // microseconds

// Processor returns the processor time of the queries that have ended.
func (u *Use) Processor() time.Duration {
	return time.Duration(max(u.scheduled.Load(), u.ticked.Load())) * time.Microsecond
}

type useKey struct{}

// WithUse returns a context whose queries add to a use.
func WithUse(ctx context.Context) (context.Context, *Use) {
	u := new(Use)
	return context.WithValue(ctx, useKey{}, u), u
}

// metered adds what a query takes to the use of its context, if there is one. The server sends how
// much more it was since the last time, for all threads of the query: by the scheduler, where the
// server may ask it, and else by the kernel's ticks.
func metered(ctx context.Context) native.QueryOption {
	u, ok := ctx.Value(useKey{}).(*Use)
	if !ok {
		return native.WithoutProfileEvents()
	}
	return native.WithProfileEvents(func(events []native.ProfileEvent) {
		for _, e := range events {
			if e.Type != "increment" {
				continue
			}
			switch e.Name {
			case "OSCPUVirtualTimeMicroseconds":
				u.scheduled.Add(e.Value)
			case "UserTimeMicroseconds", "SystemTimeMicroseconds":
				u.ticked.Add(e.Value)
			}
		}
	})
}
