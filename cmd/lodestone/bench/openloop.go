package bench

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/service"
)

// openLoop calls ask for each number below n, whether or not earlier calls have returned, at random times with a mean of rate a
// second, as people do who know nothing of each other. It returns how long each took from the time at which it was due, so that
// waiting for others counts, or the first error.
func openLoop(ctx context.Context, random *rand.Rand, rate float64, n int, ask func(ctx context.Context, number int) error) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	asking, group := errgroup.WithContext(ctx)
	due := time.Now()
	for number := range n {
		due = due.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
		if service.Sleep(group, time.Until(due)) != nil {
			break // what ended it is among the errors, or is the caller's
		}
		at := due
		asking.Go(func() error {
			err := ask(group, number)
			took[number] = time.Since(at)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	return took, context.Cause(ctx)
}
