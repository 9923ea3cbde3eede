package consumer

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queue hands the records of one partition from the poll loop to the partition's worker. The poll
// loop never waits: above the limit it pauses the partition instead.
type queue struct {
	limit int // bytes

	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	paused  bool

	ready chan struct{} // has one element after a push
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, ready: make(chan struct{}, 1)}
}

// push appends records and reports whether fetching is to be paused now.
func (q *queue) push(records []*kgo.Record) (pause bool) {
	q.mu.Lock()
	q.records = append(q.records, records...)
	for _, r := range records {
		q.bytes += len(r.Value)
	}
	if q.bytes > q.limit && !q.paused {
		q.paused, pause = true, true
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return pause
}

// take returns everything that waits, and whether fetching is to be resumed now.
func (q *queue) take() (records []*kgo.Record, resume bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	records = q.records
	q.records, q.bytes = nil, 0
	if q.paused {
		q.paused, resume = false, true
	}
	return records, resume
}
