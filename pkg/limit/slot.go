// Package limit has the limits that a process keeps by itself: what is held at once, how often an
// address does something, the deadlines of calls, and its file descriptors.
package limit

import (
	"errors"
	"sync"
)

// ErrOwner says that the owner would hold more than its share; ErrFull says that all owners
// together would hold more than there is.
var (
	ErrOwner = errors.New("the owner holds its share already")
	ErrFull  = errors.New("nothing is left to hold")
)

// Slots counts what is held at once, by each owner and in all, so that no owner keeps the others
// out. It is safe for concurrent use. Its memory is bounded by what can be
// held.
type Slots[K comparable] struct {
	all, each int64

	mu   sync.Mutex
	held int64
	by   map[K]int64
}

// NewSlots returns slots, bounded in all and for each owner. The zero owner stands for unknown or
// many owners: only the bound in all applies to it.
func NewSlots[K comparable](all, each int64) *Slots[K] {
	return &Slots[K]{all: all, each: each, by: map[K]int64{}}
}

// Take takes n slots, at least 1, for an owner, without waiting: the error is ErrOwner or ErrFull.
// release gives the slots back; calling it again has no effect.
func (s *Slots[K]) Take(owner K, n int64) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var many K
	if owner != many && s.by[owner]+n > s.each {
		return nil, ErrOwner
	}
	if s.held+n > s.all {
		return nil, ErrFull
	}
	s.held += n
	s.by[owner] += n
	return sync.OnceFunc(func() { s.give(owner, n) }), nil
}

func (s *Slots[K]) give(owner K, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held -= n
	if s.by[owner] -= n; s.by[owner] == 0 {
		delete(s.by, owner)
	}
}
