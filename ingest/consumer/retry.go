package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

// retry calls fn until it succeeds, with growing pauses. It reports false when the worker is to
// end before that.
func (w *worker) retry(ctx context.Context, what string, fn func() error) bool {
	tries := w.backoff()
	before := w.blocked.Load()
	for {
		err := fn()
		if err == nil {
			w.blocked.Store(before) // if it was refused, it is not any more
			return true
		}
		if ctx.Err() != nil || !w.wait(ctx, tries, what, err) {
			return false
		}
	}
}

// longestRetry is the longest pause after a failure, which adds to an outage when that is over; refusedRetry is the pause after what
// only an operator ends.
const (
	longestRetry = 2 * time.Second
	refusedRetry = 5 * time.Second
)

func (w *worker) backoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, longestRetry
	return b
}

// wait logs the error and pauses. What ClickHouse itself refuses would be refused again: that
// stands still loudly, and goes on by itself once the cause is fixed. If the log is not the one that was stored,
// the worker ends.
func (w *worker) wait(ctx context.Context, tries *backoff.ExponentialBackOff, what string, err error) bool {
	if differs, ok := errors.AsType[*differsError](err); ok {
		w.halt(differs)
		return false
	}
	pause := tries.NextBackOff()
	if clickhouse.IsRefusal(err) {
		w.blocked.Store(true)
		pause = refusedRetry
		w.log.Error("ClickHouse refuses this partition's rows; it stands still until that is fixed", "next", w.next, "error", err)
	} else {
		w.log.Warn("will try again", "what", what, "in", pause.Round(time.Millisecond), "error", err)
	}
	return service.Sleep(ctx, pause) == nil
}
