package producer

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxHold is how long a call may be held back by a flight without an answer. The cause may be a
// partition without a leader, which must not delay the others.
const maxHold = 5 * time.Millisecond

// coalescer merges calls of Write into flights. While a flight waits for its first answer, new
// calls are held back and then submitted together as the next flight. A broker answers the requests
// of a connection one after another, so more requests in flight would make each one smaller, and no
// answer come sooner: under load a few large batches replace many small ones, and a single call
// does not wait.
//
// Each request costs a broker some work, and a sync of the disk if it syncs: for such a broker,
// coalescing raised the rate of events by a sixth.
type coalescer struct {
	flush   func(*flight)
	mu      sync.Mutex
	waiting []*pendingWrite
	closed  bool // a flight has no answer yet
}

// flight is a set of calls that were submitted together.
type flight struct {
	coalescer *coalescer
	calls     []*pendingWrite
	timer     *time.Timer
	answered  atomic.Bool
}

// submit flushes a call, at once or with later ones.
func (c *coalescer) submit(w *pendingWrite) {
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	f := c.next()
	c.mu.Unlock()
	if f != nil {
		c.flush(f)
	}
}

// next begins a flight if possible. The caller holds the lock.
func (c *coalescer) next() *flight {
	if c.closed || len(c.waiting) == 0 {
		return nil
	}
	f := &flight{coalescer: c, calls: c.waiting}
	f.timer = time.AfterFunc(maxHold, f.answer)
	c.closed, c.waiting = true, make([]*pendingWrite, 0, len(f.calls))
	return f
}

// answer lets the next flight go. Only the first of several calls has an effect.
func (f *flight) answer() {
	if f.answered.Load() {
		return
	}
	c := f.coalescer
	c.mu.Lock()
	if f.answered.Load() {
		c.mu.Unlock()
		return
	}
	f.answered.Store(true)
	f.timer.Stop()
	c.closed = false
	after := c.next()
	c.mu.Unlock()
	if after != nil {
		go c.flush(after) // the caller has more answers to deliver
	}
}
