package consumer

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

// longestRetry is the longest pause after a failure, which adds to an outage when that is over;
// refusedRetry is the pause after what only an operator ends.
const (
	longestRetry = 2 * time.Second
	refusedRetry = 5 * time.Second
)

// retrier tries again what failed, for as long as partitions are left that it is for.
type retrier struct {
	log     *slog.Logger
	several bool // other partitions are on other shards
}

// retry calls fn until it succeeds, with growing pauses. It reports false when ctx ends before
// that, or when all of the partitions are given back.
func (r retrier) retry(ctx context.Context, partitions []*partition, what string, fn func() error) bool {
	tries := newBackoff()
	for len(held(partitions)) > 0 {
		err := fn()
		if err == nil {
			return true
		}
		if !r.wait(ctx, partitions, tries, what, err) {
			return false
		}
	}
	return false
}

// wait logs the error and pauses. What ClickHouse itself refuses would be refused again: that
// stands still loudly, and goes on by itself once the cause is fixed. It reports false when ctx
// ends, or when all of the partitions are given back.
func (r retrier) wait(ctx context.Context, partitions []*partition, tries *backoff.ExponentialBackOff,
	what string, err error) bool {
	partitions = held(partitions)
	if ctx.Err() != nil || len(partitions) == 0 {
		return false
	}
	pause, refused := tries.NextBackOff(), clickhouse.IsRefusal(err)
	if refused || r.several {
		for _, p := range partitions {
			p.blocked.Store(true)
		}
	}
	if refused {
		pause = refusedRetry
		r.log.Error("ClickHouse refuses the request; nothing is stored until that is fixed", "step", what, "error", err)
	} else {
		r.log.Warn("will try again", "step", what, "retry_in", pause.Round(time.Millisecond), "error", err)
	}
	return service.Sleep(ctx, pause) == nil
}

// held returns those of the partitions that are not given back.
func held(partitions []*partition) []*partition {
	return slices.DeleteFunc(slices.Clone(partitions), func(p *partition) bool { return p.givenBack.Load() })
}

func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, longestRetry
	return b
}
