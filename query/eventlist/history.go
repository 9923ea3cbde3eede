package eventlist

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// mostRemembered is how many bytes are remembered of all accounts. What was not asked for longest is forgotten first.
	mostRemembered = 32 << 20
	// unfitFor is how long an account that cannot be remembered is not tried again.
	unfitFor = time.Hour
	// momentAgo is how young a view is that is taken for true, until it is known whether it is: a consumer inserts a few times a second.
	momentAgo = time.Second / 2
)

// history is what is remembered of all accounts. It is safe for concurrent use.
type history struct {
	mu       sync.Mutex
	accounts map[uuid.UUID]*remembered
	size     int // the sum of all sizes
}

type remembered struct {
	turn chan struct{} // full while somebody brings the view up to date
	view *view         // never nil
	size int
	used time.Time
}

// of returns what is remembered of an account, if it is no more than nothing. Read the view by get.
func (h *history) of(account uuid.UUID) *remembered {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.accounts[account]
	if r == nil {
		r = &remembered{turn: make(chan struct{}, 1), view: &view{}}
		h.put(account, r, r.view)
	}
	r.used = time.Now()
	return r
}

// take waits for the turn to bring the view up to date, which the caller gives back.
func (r *remembered) take(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *remembered) giveBack() { <-r.turn }

// get returns the view that is remembered.
func (h *history) get(r *remembered) *view {
	h.mu.Lock()
	defer h.mu.Unlock()
	return r.view
}

// recent returns what is known of an account, if it was true a moment ago and so may be true still, or nil.
func (h *history) recent(account uuid.UUID) *view {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.accounts[account]; r != nil && !r.view.unfit && time.Since(r.view.asOf) < momentAgo {
		return r.view
	}
	return nil
}

// set remembers a view, and forgets those of others that were not used for long.
func (h *history) set(account uuid.UUID, r *remembered, v *view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(account, r, v)
}

func (h *history) put(account uuid.UUID, r *remembered, v *view) {
	if h.accounts == nil {
		h.accounts = map[uuid.UUID]*remembered{}
	}
	h.forget(account) // it may have been forgotten already, and begun anew by others
	r.view, r.size, r.used = v, v.bytes(), time.Now()
	h.accounts[account] = r
	h.size += r.size
	for h.size > mostRemembered {
		oldest := account
		for id, other := range h.accounts {
			if other.used.Before(h.accounts[oldest].used) {
				oldest = id
			}
		}
		h.forget(oldest)
	}
}

func (h *history) forget(account uuid.UUID) {
	if r := h.accounts[account]; r != nil {
		h.size -= r.size
		delete(h.accounts, account)
	}
}
