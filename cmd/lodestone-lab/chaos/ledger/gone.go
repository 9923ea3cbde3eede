package ledger

import "sync"

// Gone records the numbers of events and link views that Kafka lost or deleted before they were
// stored, without another copy in the log.
type Gone struct {
	mu      sync.Mutex
	numbers map[uint64]struct{}
}

// Add puts numbers on record.
func (g *Gone) Add(numbers map[uint64]struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.numbers == nil {
		g.numbers = map[uint64]struct{}{}
	}
	for n := range numbers {
		g.numbers[n] = struct{}{}
	}
}

// Has reports whether a number is on record.
func (g *Gone) Has(number uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.numbers[number]
	return ok
}
