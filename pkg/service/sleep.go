package service

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Sleep waits for d, or returns the cause with which ctx ended before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Retry calls fn until it succeeds or ctx ends, or again reports that another call would not help.
// The pauses grow from first to longest, and are at least what again returns. The error is the last
// one of fn.
func Retry(ctx context.Context, first, longest time.Duration, fn func() error,
	again func(err error) (after time.Duration, yes bool)) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = first, longest
	for {
		err := fn()
		if err == nil {
			return nil
		}
		after, yes := again(err)
		if !yes || Sleep(ctx, max(after, pauses.NextBackOff())) != nil {
			return err
		}
	}
}
