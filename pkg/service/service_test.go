package service_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/service"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

var errBroken = errors.New("broken")

func TestLoopIsReadyBeforeStartReturnsAndEndedBeforeStopDoes(t *testing.T) {
	t.Parallel()
	var steps []string // touched by the loop only before ready and after the cancellation
	l := service.NewLoop("x", func(ctx context.Context, ready func()) error {
		steps = append(steps, "begun")
		ready()
		<-ctx.Done()
		steps = append(steps, "ended")
		return ctx.Err()
	})
	starting, cancel := context.WithCancel(t.Context())
	require.NoError(t, l.Start(starting))
	require.Equal(t, []string{"begun"}, steps)
	cancel() // bounds the start, not the life
	select {
	case err := <-l.Failed():
		require.NoError(t, err)
	default:
	}
	require.Error(t, l.Start(t.Context()), "a second start")
	require.NoError(t, l.Stop(t.Context()))
	require.Equal(t, []string{"begun", "ended"}, steps)
	require.NoError(t, l.Stop(t.Context()), "a second stop")
	require.Empty(t, l.Failed(), "who is stopped has not failed")
}

func TestLoopThatCannotStart(t *testing.T) {
	t.Parallel()
	l := service.NewLoop("x", func(context.Context, func()) error { return errBroken })
	require.ErrorIs(t, l.Start(t.Context()), errBroken)
	require.NoError(t, l.Stop(t.Context()))
	require.NoError(t, service.NewLoop("never started", nil).Stop(t.Context()))
}

func TestLoopWhoseStartTakesTooLong(t *testing.T) {
	t.Parallel()
	l := service.NewLoop("x", func(ctx context.Context, _ func()) error {
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Start(ctx), context.Canceled)
}

func TestLoopThatEndsByItselfTells(t *testing.T) {
	t.Parallel()
	for _, end := range []error{errBroken, nil} {
		l := service.NewLoop("x", func(_ context.Context, ready func()) error {
			ready()
			return end
		})
		require.NoError(t, l.Start(t.Context()))
		err := <-l.Failed()
		require.Error(t, err)
		if end != nil {
			require.ErrorIs(t, err, end)
		}
		require.NoError(t, l.Stop(t.Context()))
	}
}

func TestLoopThatDoesNotEndIsReported(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	l := service.NewLoop("stubborn", func(_ context.Context, ready func()) error {
		ready()
		<-release
		return nil
	})
	require.NoError(t, l.Start(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, l.Stop(ctx), "stop stubborn")
	close(release)
	require.NoError(t, l.Stop(t.Context()))
}

// part is a service that writes down what happens to it.
type part struct {
	name   string
	events *[]string
	err    error
	failed chan error
}

func (p *part) Start(context.Context) error {
	if p.err != nil {
		return p.err
	}
	*p.events = append(*p.events, "start "+p.name)
	return nil
}

func (p *part) Stop(context.Context) error {
	*p.events = append(*p.events, "stop "+p.name)
	return nil
}

func (p *part) Failed() <-chan error { return p.failed }

func TestStackStopsInTheOppositeOrderWhatItStarted(t *testing.T) {
	t.Parallel()
	var events []string
	s := service.NewStack(slog.New(slog.DiscardHandler))
	s.Add("a", &part{name: "a", events: &events})
	require.NoError(t, s.Start(t.Context()))
	s.Add("b", &part{name: "b", events: &events})
	s.Add("c", &part{name: "c", events: &events, err: errBroken})
	s.Add("d", &part{name: "d", events: &events})
	require.ErrorIs(t, s.Start(t.Context()), errBroken)
	require.NoError(t, s.Stop(t.Context()))
	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, []string{"start a", "start b", "stop b", "stop a"}, events)
}

func TestStackWaitsForTheEndOrTheFirstFailure(t *testing.T) {
	t.Parallel()
	var events []string
	failing := &part{name: "a", events: &events, failed: make(chan error, 1)}
	s := service.NewStack(slog.New(slog.DiscardHandler))
	s.Add("a", failing)
	require.NoError(t, s.Start(t.Context()))
	over, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.NoError(t, s.Wait(over))
	failing.failed <- errBroken
	require.ErrorIs(t, s.Wait(t.Context()), errBroken)
	require.NoError(t, s.Stop(t.Context()))
}

// A service tells of its failure once. A wait that ends at the same time does not take it from the
// next one.
func TestNoFailureIsLostBetweenTwoWaits(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 1000 {
		failing := &part{name: "a", events: &[]string{}, failed: make(chan error, 1)}
		s := service.NewStack(slog.New(slog.DiscardHandler))
		s.Add("a", failing)
		require.NoError(t, s.Start(t.Context()))
		failing.failed <- errBroken
		if err := s.Wait(over); err != nil {
			require.ErrorIs(t, err, errBroken)
		} else {
			require.Len(t, failing.failed, 1, "it is there for the next wait")
		}
	}
}

func TestAServiceThatTakesLongToStopLeavesTimeToTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events []string
		s := service.NewStack(slog.New(slog.DiscardHandler))
		s.Add("below", &part{name: "below", events: &events})
		slow := service.NewLoop("slow", func(_ context.Context, ready func()) error {
			ready()
			<-t.Context().Done() // until the test is over
			return nil
		})
		s.Add("slow", slow)
		require.NoError(t, s.Start(context.WithoutCancel(t.Context())))
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		require.ErrorIs(t, s.Stop(ctx), context.DeadlineExceeded)
		require.NoError(t, ctx.Err(), "the time for all services is not over")
		require.Equal(t, []string{"start below", "stop below"}, events)
	})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	failed, final := errors.New("failed"), errors.New("final")
	calls := 0
	count := func(errs ...error) func() error {
		calls = 0
		return func() error { calls++; return errs[min(calls, len(errs))-1] }
	}
	again := func(err error) (time.Duration, bool) { return 0, !errors.Is(err, final) }
	require.NoError(t, service.Retry(t.Context(), time.Nanosecond, time.Nanosecond, count(failed, failed, nil), again))
	require.Equal(t, 3, calls)
	require.ErrorIs(t, service.Retry(t.Context(), time.Nanosecond, time.Nanosecond, count(failed, final), again), final)
	require.Equal(t, 2, calls)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, service.Retry(ended, time.Hour, time.Hour, count(failed), again), failed)
	require.Equal(t, 1, calls)
}
