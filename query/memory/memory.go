// Package memory keeps what is known of accounts' months that are over, up to a size in all.
package memory

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// unfitFor is how long an account of which nothing can be remembered is not tried again.
const unfitFor = time.Hour

// Known is what is known of an account. It does not change once it is remembered.
type Known interface {
	comparable
	Open() time.Time // where the months begin that are not over, when it was made
	Unfit() bool     // nothing could be remembered
	Size() int       // in the unit that the Memory's bound has
}

// Memory is what is known of all accounts. What was not asked for longest is forgotten first. It is safe for concurrent use.
type Memory[K Known] struct {
	most     int
	mu       sync.Mutex
	accounts map[uuid.UUID]*entry[K]
	size     int // the sum of all
}

type entry[K Known] struct {
	known      K
	size       int
	made, used time.Time
}

// New returns an empty Memory of a size at the most.
func New[K Known](most int) *Memory[K] {
	return &Memory[K]{most: most, accounts: map[uuid.UUID]*entry[K]{}}
}

// Get returns what is known of an account where the months that are not over begin at a time, and false if that has to be
// learnt.
func (m *Memory[K]) Get(account uuid.UUID, open time.Time) (known K, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.accounts[account]
	if e == nil || !e.known.Open().Equal(open) || e.known.Unfit() && time.Since(e.made) > unfitFor {
		return known, false
	}
	e.used = time.Now()
	return e.known, true
}

// Set remembers what is known of an account, and forgets what was not used for long.
func (m *Memory[K]) Set(account uuid.UUID, known K) {
	size, now := known.Size(), time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(account)
	m.accounts[account] = &entry[K]{known, size, now, now}
	m.size += size
	for m.size > m.most {
		oldest := account
		for id, e := range m.accounts {
			if e.used.Before(m.accounts[oldest].used) {
				oldest = id
			}
		}
		m.forget(oldest)
	}
}

// Drop forgets what is known of an account, if it is still that.
func (m *Memory[K]) Drop(account uuid.UUID, known K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.accounts[account]; e != nil && e.known == known {
		m.forget(account)
	}
}

// Size returns the sum of all sizes.
func (m *Memory[K]) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size
}

func (m *Memory[K]) forget(account uuid.UUID) {
	if e := m.accounts[account]; e != nil {
		m.size -= e.size
		delete(m.accounts, account)
	}
}
