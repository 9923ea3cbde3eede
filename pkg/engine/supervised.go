package engine

import (
	"context"
	"errors"
	"sync"

	"lodestone/pkg/engine/child"
)

// childEngine is the common part of engines in child processes.
type childEngine struct {
	mu      sync.Mutex
	lock    *dirLock
	process *child.Process
}

// adopt takes over a started process and the lock of its directory.
func (s *childEngine) adopt(lock *dirLock, p *child.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lock, s.process = lock, p
}

// Stop implements service.Service.
func (s *childEngine) Stop(ctx context.Context) error {
	s.mu.Lock()
	process, lock := s.process, s.lock
	s.mu.Unlock()
	if process == nil {
		return nil
	}
	if err := process.Stop(ctx); err != nil {
		return err // it still runs, so it keeps the directory
	}
	return lock.Unlock()
}

// Failed implements service.Service: it delivers the error of an engine that died and could not
// be brought back.
func (s *childEngine) Failed() <-chan error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return nil
	}
	return s.process.Failed()
}

// PID returns the child's process id, 0 while it does not run. It changes when the child is
// restarted.
func (s *childEngine) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.PID()
}

const portAttempts = 5

// startOnPorts calls start until it no longer fails for a port that was taken between its choice
// and its use. It adopts the process that start returns, with the lock.
func (s *childEngine) startOnPorts(lock *dirLock, start func() (*child.Process, error)) error {
	var err error
	for range portAttempts {
		var p *child.Process
		if p, err = start(); err == nil {
			s.adopt(lock, p)
			return nil
		}
		if !isPortTaken(err) {
			break
		}
	}
	return errors.Join(err, lock.Unlock())
}
