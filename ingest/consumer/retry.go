package consumer

import (
	"context"
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

// retry calls fn until it succeeds, with growing pauses. It reports false when ctx ends before that,
// or when no partition of the batch is left.
func (b *batcher) retry(ctx context.Context, batch *batch, what string, fn func() error) bool {
	tries := newBackoff()
	for {
		err := fn()
		if err == nil {
			return true
		}
		if !b.wait(ctx, batch, tries, what, err) {
			return false
		}
	}
}

// wait logs the error and pauses. What ClickHouse itself refuses would be refused again: that
// stands still loudly, and goes on by itself once the cause is fixed. It reports false when ctx ends,
// or when no partition of the batch is left.
func (b *batcher) wait(ctx context.Context, batch *batch, tries *backoff.ExponentialBackOff, what string, err error) bool {
	if ctx.Err() != nil || !slices.ContainsFunc(batch.spans, func(s *span) bool { return !s.of.given.Load() }) {
		return false
	}
	pause, refused := tries.NextBackOff(), clickhouse.IsRefusal(err)
	if refused || b.several {
		for _, s := range batch.spans {
			s.of.blocked.Store(true)
		}
	}
	if refused {
		pause = refusedRetry
		b.log.Error("ClickHouse refuses what is asked for; nothing is stored until that is fixed", "step", what, "error", err)
	} else {
		b.log.Warn("will try again", "step", what, "retry_in", pause.Round(time.Millisecond), "error", err)
	}
	return service.Sleep(ctx, pause) == nil
}

func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, longestRetry
	return b
}

// retry calls fn until it succeeds, with growing pauses. It reports false when ctx ends before that,
// or when all of the partitions are given back.
func retry(ctx context.Context, partitions []*partition, what string, fn func() error) bool {
	tries := newBackoff()
	for slices.ContainsFunc(partitions, func(p *partition) bool { return !p.given.Load() }) {
		err := fn()
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		for _, p := range partitions {
			p.blocked.Store(true)
		}
		pause := tries.NextBackOff()
		partitions[0].log.Warn("will try again", "step", what, "retry_in", pause.Round(time.Millisecond), "error", err)
		if service.Sleep(ctx, pause) != nil {
			return false
		}
	}
	return false
}
