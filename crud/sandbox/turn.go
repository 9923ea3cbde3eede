package sandbox

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Turns lets so many run at a time. Owners take turns: the next to run is of the owner who has
// waited longest since its last turn, however many others wait for another. No owner runs in all
// places while there are several, so that who comes does not wait for the end of another owner's
// work.
type Turns struct {
	each int // places of one owner at a time

	mu      sync.Mutex
	free    int
	owners  map[uuid.UUID]*turn // those who run or wait
	waiting []*waiter           // in the order in which they came
	count   uint64
}

type turn struct {
	running, waiting int
	last             uint64 // when it came to run last, 0 for never
}

type waiter struct {
	owner uuid.UUID
	ready chan struct{} // closed when it may run
}

// NewTurns returns turns with a number of places that run at a time.
func NewTurns(places int) *Turns {
	return &Turns{each: max(1, places-1), free: places, owners: map[uuid.UUID]*turn{}}
}

// Wait returns when it is the owner's turn, which done ends, or when ctx ends.
func (t *Turns) Wait(ctx context.Context, owner uuid.UUID) (done func(), err error) {
	w := &waiter{owner, make(chan struct{})}
	t.mu.Lock()
	of := t.owners[owner]
	if of == nil {
		of = &turn{}
		t.owners[owner] = of
	}
	of.waiting++
	t.waiting = append(t.waiting, w)
	t.next()
	t.mu.Unlock()
	done = sync.OnceFunc(func() { t.end(w) })
	select {
	case <-w.ready:
		return done, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// next lets those run who can.
func (t *Turns) next() {
	for t.free > 0 {
		var chosen *waiter
		for _, w := range t.waiting {
			of := t.owners[w.owner]
			if of.running < t.each && (chosen == nil || cmp.Compare(of.last, t.owners[chosen.owner].last) < 0) {
				chosen = w
			}
		}
		if chosen == nil {
			return
		}
		t.count++
		of := t.owners[chosen.owner]
		of.last = t.count
		of.waiting--
		of.running++
		t.free--
		t.remove(chosen)
		close(chosen.ready)
	}
}

// end gives back the place of one that runs, or the place in the queue of one that does not.
func (t *Turns) end(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.owners[w.owner]
	if t.remove(w) {
		of.waiting--
	} else {
		of.running--
		t.free++
	}
	if of.running == 0 && of.waiting == 0 {
		delete(t.owners, w.owner)
	}
	t.next()
}

func (t *Turns) remove(w *waiter) bool {
	at := slices.Index(t.waiting, w)
	if at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	}
	return at >= 0
}
