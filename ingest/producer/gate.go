package producer

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxHold is how long a call may be held back by a round without an answer. What keeps that from being
// answered may be a partition without a leader, which is no business of the others.
const maxHold = 5 * time.Millisecond

// gate gathers calls of Write into rounds. While a round waits for its first answer, the calls that come are
// held back, and are then handed over together, as the next one. A broker answers the requests of a
// connection one after another, so more of them under way would make each one smaller, and no answer come sooner:
// under load a few large batches take the place of many small ones, and a call that comes alone waits for nothing.
//
// Each request costs a broker some work, and one that syncs to a disk a round of that: there, gathering let a sixth more
// events through.
type gate struct {
	handOver func(*round)
	mu       sync.Mutex
	waiting  []*pending
	closed   bool // a round has no answer yet
}

// round is calls that were handed over together.
type round struct {
	gate     *gate
	calls    []*pending
	patience *time.Timer
	answered atomic.Bool
}

// enter hands a call over, at once or with others soon.
func (g *gate) enter(w *pending) {
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	r := g.next()
	g.mu.Unlock()
	if r != nil {
		g.handOver(r)
	}
}

// next begins a round if it may. It is called under the lock.
func (g *gate) next() *round {
	if g.closed || len(g.waiting) == 0 {
		return nil
	}
	r := &round{gate: g, calls: g.waiting}
	r.patience = time.AfterFunc(maxHold, r.answer)
	g.closed, g.waiting = true, make([]*pending, 0, len(r.calls))
	return r
}

// answer lets the next round go. Only the first of several calls has an effect.
func (r *round) answer() {
	if r.answered.Load() {
		return
	}
	g := r.gate
	g.mu.Lock()
	if r.answered.Load() {
		g.mu.Unlock()
		return
	}
	r.answered.Store(true)
	r.patience.Stop()
	g.closed = false
	after := g.next()
	g.mu.Unlock()
	if after != nil {
		go g.handOver(after) // whoever calls has more answers to tell
	}
}
