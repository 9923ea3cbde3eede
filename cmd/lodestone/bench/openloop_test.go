package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

const dozen = 12

func TestAnOpenLoopDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	all := make(chan struct{})
	took, err := openLoop(t.Context(), rand.New(rand.NewPCG(1, 1)), 1000, dozen, func(ctx context.Context, _ int) error {
		if asked.Add(1) == dozen {
			close(all)
		}
		select { // nobody is answered until all have asked
		case <-all:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	require.NoError(t, err)
	require.Len(t, took, dozen)
	for _, one := range took {
		require.Positive(t, one)
	}
}

func TestAnOpenLoopEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := openLoop(t.Context(), rand.New(rand.NewPCG(1, 1)), 1000, dozen, func(ctx context.Context, number int) error {
		if number == 3 {
			return broken
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	require.ErrorIs(t, err, broken)

	stopped, stop := context.WithCancelCause(t.Context())
	stop(broken)
	_, err = openLoop(stopped, rand.New(rand.NewPCG(1, 1)), 1000, dozen, func(context.Context, int) error { return nil })
	require.ErrorIs(t, err, broken)
}
