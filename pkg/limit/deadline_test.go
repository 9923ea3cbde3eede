package limit_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/limit"
)

func TestDeadlinesOfOneMomentAreShared(t *testing.T) {
	t.Parallel()
	s := limit.NewDeadlines(t.Context())
	at := time.Now().Add(time.Hour)
	first, second := s.At(at), s.At(at)
	require.Same(t, first, second)
	end, ok := first.Deadline()
	require.True(t, ok)
	require.False(t, end.Before(at))
	require.LessOrEqual(t, end.Sub(at), limit.DeadlineGrain)
	require.NotSame(t, first, s.At(at.Add(limit.DeadlineGrain)))
	require.NoError(t, first.Err())
}

func TestADeadlineEnds(t *testing.T) {
	t.Parallel()
	s := limit.NewDeadlines(t.Context())
	ctx := s.At(time.Now().Add(time.Millisecond))
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), context.DeadlineExceeded)
	require.ErrorIs(t, s.At(time.Now().Add(-time.Second)).Err(), context.DeadlineExceeded)
	require.NoError(t, s.At(time.Now().Add(time.Hour)).Err())
}

func TestAllEndWithTheParent(t *testing.T) {
	t.Parallel()
	parent, cancel := context.WithCancel(t.Context())
	s := limit.NewDeadlines(parent)
	ctx := s.At(time.Now().Add(time.Hour))
	within, done := limit.Within(ctx, time.Minute)
	defer done()
	cancel()
	<-within.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.ErrorIs(t, within.Err(), context.Canceled)
	require.ErrorIs(t, s.At(time.Now().Add(time.Hour)).Err(), context.Canceled)
}

func TestWithin(t *testing.T) {
	t.Parallel()
	ctx := limit.NewDeadlines(t.Context()).At(time.Now().Add(time.Hour))
	long, cancel := limit.Within(ctx, 2*time.Hour)
	cancel()
	require.Same(t, ctx, long, "it ends no later than its parent")
	short, cancel := limit.Within(ctx, time.Minute)
	cancel() // others may have it as well
	require.NoError(t, short.Err())
	again, cancel := limit.Within(short, time.Hour)
	cancel()
	require.Same(t, short, again)

	plain, cancel := limit.Within(t.Context(), time.Hour) // of no source
	require.NoError(t, plain.Err())
	cancel()
	require.ErrorIs(t, plain.Err(), context.Canceled)
}

func BenchmarkWithin(b *testing.B) {
	for name, parent := range map[string]context.Context{
		"shared": limit.NewDeadlines(b.Context()).At(time.Now().Add(time.Hour)), "own": b.Context(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, cancel := limit.Within(parent, 5*time.Second)
				cancel()
			}
		})
	}
}
