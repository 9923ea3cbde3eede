package summary

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// mostBytes is how much is remembered of all accounts. What was not asked for longest is forgotten first.
	mostBytes = 16 << 20
	// unfitFor is how long an account that cannot be remembered is not tried again.
	unfitFor = time.Hour
)

// memory is what is remembered of all accounts. It is safe for concurrent use.
type memory struct {
	mu       sync.Mutex
	accounts map[uuid.UUID]*remembered
	size     int // the sum of all
}

type remembered struct {
	past       *past
	made, used time.Time
}

// get returns what is known of an account, or nil.
func (m *memory) get(account uuid.UUID, open time.Time) *past {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.accounts[account]
	if r == nil || !r.past.open.Equal(open) || r.past.unfit && time.Since(r.made) > unfitFor {
		return nil
	}
	r.used = time.Now()
	return r.past
}

// set remembers what is known of an account, and forgets what was not used for long.
func (m *memory) set(account uuid.UUID, p *past) {
	if p.size() > mostBytes {
		p = &past{open: p.open, unfit: true}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.accounts == nil {
		m.accounts = map[uuid.UUID]*remembered{}
	}
	m.forget(account)
	now := time.Now()
	m.accounts[account] = &remembered{past: p, made: now, used: now}
	m.size += p.size()
	for m.size > mostBytes {
		oldest := account
		for id, r := range m.accounts {
			if r.used.Before(m.accounts[oldest].used) {
				oldest = id
			}
		}
		m.forget(oldest)
	}
}

// drop forgets what is known of an account, if it is still that.
func (m *memory) drop(account uuid.UUID, known *past) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.accounts[account]; r != nil && r.past == known {
		m.forget(account)
	}
}

func (m *memory) forget(account uuid.UUID) {
	if r := m.accounts[account]; r != nil {
		m.size -= r.past.size()
		delete(m.accounts, account)
	}
}
