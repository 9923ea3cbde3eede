package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Stack runs services that build upon one another: they start in the order they were added, and
// stop in the opposite order. It is used from one goroutine.
type Stack struct {
	log     *slog.Logger
	entries []entry
	started int
}

type entry struct {
	name    string
	service Service
}

// NewStack returns an empty stack that logs how long each start and stop took.
func NewStack(log *slog.Logger) *Stack { return &Stack{log: log} }

// Add puts a service on top of the stack. It does not start it.
func (s *Stack) Add(name string, service Service) {
	s.entries = append(s.entries, entry{name, service})
}

// Start starts what was added and is not started yet. At the first failure it returns the error;
// the caller still calls Stop, which ends those that had started.
func (s *Stack) Start(ctx context.Context) error {
	for s.started < len(s.entries) {
		e := s.entries[s.started]
		begin := time.Now()
		if err := e.service.Start(ctx); err != nil {
			return err
		}
		s.started++
		s.log.Info("started", "service", e.name, "took", time.Since(begin).Round(time.Millisecond))
	}
	return nil
}

// Wait returns nil when ctx ends, or the error of the first service that ends by itself: no failure
// is lost between two waits.
func (s *Stack) Wait(ctx context.Context) error {
	failed := make(chan error, 1)
	watch, cancel := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer watchers.Wait() // so that none is left to take a failure that is meant for the next Wait
	defer cancel()
	for _, e := range s.entries[:s.started] {
		watchers.Go(func() {
			select {
			case err := <-e.service.Failed():
				select {
				case failed <- fmt.Errorf("%s: %w", e.name, err):
				default:
				}
			case <-watch.Done():
			}
		})
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	cancel()
	watchers.Wait()
	select {
	case err := <-failed: // a service tells of it once
		return err
	default:
		return nil
	}
}

// Stop stops every started service, the last one first, and returns the errors joined. ctx bounds
// the time for all of them. A slow service leaves time to those below it: each gets three quarters
// of the remaining time.
func (s *Stack) Stop(ctx context.Context) error {
	var errs []error
	for ; s.started > 0; s.started-- {
		e := s.entries[s.started-1]
		begin := time.Now()
		if err := stopWithin(ctx, e.service); err != nil {
			errs = append(errs, err)
			continue
		}
		s.log.Info("stopped", "service", e.name, "took", time.Since(begin).Round(time.Millisecond))
	}
	return errors.Join(errs...)
}

func stopWithin(ctx context.Context, s Service) error {
	if end, ok := ctx.Deadline(); ok {
		own, cancel := context.WithTimeout(ctx, time.Until(end)*3/4)
		defer cancel()
		ctx = own
	}
	return s.Stop(ctx)
}
