// Package guess bounds how many secrets that do not exist an address may ask for: tokens of links, API keys. It counts in the
// memory of one process.
package guess

import (
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"time"

	"lukechampine.com/blake3"

	"lodestone/pkg/clientaddr"
)

const (
	window      = time.Minute
	maxGuessers = 100_000
)

// Guesses counts what addresses ask for that does not exist. It knows an address by a hash under a key of this process
// alone. It is safe for concurrent use.
type Guesses struct {
	limit int
	key   [32]byte

	mu   sync.Mutex
	seen map[uint64]guesser
}

type guesser struct {
	until  time.Time
	failed int
}

// New returns guesses of which an address has so many in a minute.
func New(limit int) *Guesses {
	g := &Guesses{limit: limit, seen: map[uint64]guesser{}}
	_, _ = rand.Read(g.key[:]) // never fails: crypto/rand ends the process instead
	return g
}

func (g *Guesses) of(addr netip.Addr) uint64 {
	h := blake3.New(8, g.key[:])
	network := clientaddr.Network(addr).As16()
	_, _ = h.Write(network[:]) // documented never to fail
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// Wait returns how long an address has to wait, 0 if it need not. One that is not known never has to:
// it may stand for many people.
func (g *Guesses) Wait(addr netip.Addr, now time.Time) time.Duration {
	if !addr.IsValid() {
		return 0
	}
	who := g.of(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.seen[who]; s.failed >= g.limit && now.Before(s.until) {
		return s.until.Sub(now)
	}
	return 0
}

// Failed counts a guess.
func (g *Guesses) Failed(addr netip.Addr, now time.Time) {
	if !addr.IsValid() {
		return
	}
	who := g.of(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	s, known := g.seen[who]
	if !now.Before(s.until) {
		s = guesser{until: now.Add(window)}
	}
	if !known && len(g.seen) >= maxGuessers {
		g.forget(now)
	}
	s.failed++
	g.seen[who] = s
}

// forget drops windows that are over, or all if none is: to forget somebody's guesses is better than to
// refuse others.
func (g *Guesses) forget(now time.Time) {
	for who, s := range g.seen {
		if !now.Before(s.until) {
			delete(g.seen, who)
		}
	}
	if len(g.seen) >= maxGuessers {
		clear(g.seen)
	}
}
