package consumer

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queue hands the records of one partition from the poll loop to the partition's worker. The poll
// loop never waits: above the limit it pauses the partition instead.
type queue struct {
	limit         int // bytes
	pause, resume func()

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	paused  bool

	ready chan struct{} // has one element after a push
}

// newQueue returns an empty queue. It calls pause and resume in turns, under its lock: otherwise a
// worker that empties the queue at once could resume the fetching before it is paused, and nobody
// would resume it again.
func newQueue(limit int, pause, resume func()) *queue {
	return &queue{limit: limit, pause: pause, resume: resume, ready: make(chan struct{}, 1)}
}

// push appends records, and pauses the fetching if too much waits.
func (q *queue) push(records []*kgo.Record) {
	q.mu.Lock()
	q.records = append(q.records, records...)
	for _, r := range records {
		q.bytes += len(r.Value)
	}
	if q.bytes > q.limit && !q.paused {
		q.paused = true
		q.pause()
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns everything that waits, and resumes the fetching if it was paused.
func (q *queue) take() (records []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	records = q.records
	q.records, q.bytes = nil, 0
	if q.paused {
		q.paused = false
		q.resume()
	}
	return records
}
