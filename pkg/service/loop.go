package service

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Loop is a Service that runs one function. The function runs until its context is cancelled and
// calls ready once when it has reached its working state.
type Loop struct {
	name   string
	run    func(ctx context.Context, ready func()) error
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
	failed chan error
}

// NewLoop returns a service that runs the function given. An error, or a return although the
// context was not cancelled, is delivered by Failed, or by Start if ready had not been called.
func NewLoop(name string, run func(ctx context.Context, ready func()) error) *Loop {
	return &Loop{name: name, run: run, failed: make(chan error, 1)}
}

// Start implements Service.
func (l *Loop) Start(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done != nil {
		return fmt.Errorf("start %s: already started", l.name)
	}
	// The loop outlives the start: it keeps the values of ctx, but not its cancellation.
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done, ready, early := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	l.cancel, l.done = cancel, done
	var once sync.Once
	go func() {
		defer close(done)
		err := l.run(runCtx, func() { once.Do(func() { close(ready) }) })
		if runCtx.Err() != nil {
			early <- runCtx.Err()
			return
		}
		if err == nil {
			err = fmt.Errorf("%s ended without being stopped", l.name)
		}
		early <- err
		select {
		case <-ready:
			l.failed <- err
		default:
		}
	}()
	select {
	case <-ready:
		return nil
	case err := <-early:
		select {
		case <-ready: // it became ready first and failed since: Failed tells
			return nil
		default:
		}
		cancel()
		return fmt.Errorf("start %s: %w", l.name, err)
	case <-ctx.Done():
		cancel()
		<-done
		return fmt.Errorf("start %s: %w", l.name, context.Cause(ctx))
	}
}

// Stop implements Service.
func (l *Loop) Stop(ctx context.Context) error {
	l.mu.Lock()
	cancel, done := l.cancel, l.done
	l.mu.Unlock()
	if done == nil {
		return nil
	}
	cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", l.name, context.Cause(ctx))
	}
}

// Failed implements Service.
func (l *Loop) Failed() <-chan error { return l.failed }

// Every returns a service that calls fn when it starts and then every interval, or after retry if
// fn failed. The first failure of an outage is logged as a warning.
func Every(name string, interval, retry time.Duration, log *slog.Logger, fn func(ctx context.Context) error) *Loop {
	return NewLoop(name, func(ctx context.Context, ready func()) error {
		ready()
		for failing := false; ; {
			err, wait := fn(ctx), interval
			if err != nil && ctx.Err() == nil {
				wait = retry
				if !failing {
					log.Warn(name+" failed, will try again", "error", err)
				}
			}
			failing = err != nil
			if err := Sleep(ctx, wait); err != nil {
				return err
			}
		}
	})
}
