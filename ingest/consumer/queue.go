package consumer

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queue hands the records of one partition from the poll loop to the partition's worker. The poll
// loop never waits: above the limit it pauses the partition instead.
type queue struct {
	limit         int     // bytes
	buffer        *buffer // of all partitions
	pause, resume func()

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	cost    int64 // of the records, in the buffer
	paused  bool
	opened  bool // something was taken
	closed  bool

	ready chan struct{} // has one element after a push
}

// tightQueue is by how much less may wait when the buffer gets scarce, or nobody has taken anything yet.
const tightQueue = 4

// newQueue returns an empty queue. It calls pause and resume in turns, under its lock: otherwise a
// worker that empties the queue at once could resume the fetching before it is paused, and nobody
// would resume it again.
func newQueue(limit int, b *buffer, pause, resume func()) *queue {
	return &queue{limit: limit, buffer: b, pause: pause, resume: resume, ready: make(chan struct{}, 1)}
}

// push appends records, and pauses the fetching if too much waits.
func (q *queue) push(records []*kgo.Record) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.records = append(q.records, records...)
	cost := int64(0)
	for _, r := range records {
		q.bytes += len(r.Value)
		cost += queuedCost(r)
	}
	q.cost += cost
	q.buffer.add(cost)
	limit := q.limit
	if !q.opened || q.buffer.tight() {
		limit /= tightQueue // what waits here a block that has its turn could use
	}
	if (q.bytes > limit || q.buffer.full()) && !q.paused {
		q.paused = true
		q.pause()
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns everything that waits. The fetching goes on if more is wanted, else it pauses.
func (q *queue) take(more bool) (records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opened = true
	records = q.records
	q.records, q.bytes, q.cost = nil, 0, 0 // the cost is the worker's now
	switch {
	case more && q.paused:
		q.paused = false
		q.resume()
	case !more && !q.paused && !q.closed:
		q.paused = true
		q.pause()
	}
	return records
}

// halt ends the fetching, and drops what waits and what comes.
func (q *queue) halt() {
	q.mu.Lock()
	if !q.paused && !q.closed {
		q.paused = true
		q.pause()
	}
	q.mu.Unlock()
	q.close()
}

// close drops what waits and what comes: nobody takes it any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.buffer.add(-q.cost)
	q.records, q.bytes, q.cost, q.closed = nil, 0, 0, true
}
