package viewer

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
	// mostFailures is how many unknown links an address may ask for in a window. A person mistypes one
	// or two. A token has 130 random bits: guessing would be hopeless without a limit, and with it costs
	// us nothing either.
	mostFailures = 30
	failWindow   = time.Minute
	maxGuessers  = 100_000
)

// guesses counts the unknown links that addresses ask for. It knows an address by a hash under a key of
// this process alone.
type guesses struct {
	key [32]byte

	mu   sync.Mutex
	seen map[uint64]guesser
}

type guesser struct {
	until  time.Time
	failed int
}

func newGuesses() *guesses {
	g := &guesses{seen: map[uint64]guesser{}}
	_, _ = rand.Read(g.key[:]) // never fails: crypto/rand ends the process instead
	return g
}

func (g *guesses) of(addr netip.Addr) uint64 {
	h := blake3.New(8, g.key[:])
	network := clientaddr.Network(addr).As16()
	_, _ = h.Write(network[:]) // documented never to fail
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// wait returns how long an address has to wait, 0 if it need not. One that is not known never has to:
// it may stand for many people.
func (g *guesses) wait(addr netip.Addr, now time.Time) time.Duration {
	if !addr.IsValid() {
		return 0
	}
	who := g.of(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.seen[who]; s.failed >= mostFailures && now.Before(s.until) {
		return s.until.Sub(now)
	}
	return 0
}

// failed counts an unknown link.
func (g *guesses) failed(addr netip.Addr, now time.Time) {
	if !addr.IsValid() {
		return
	}
	who := g.of(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	s, known := g.seen[who]
	if !now.Before(s.until) {
		s = guesser{until: now.Add(failWindow)}
	}
	if !known && len(g.seen) >= maxGuessers {
		g.forget(now)
	}
	s.failed++
	g.seen[who] = s
}

// forget drops windows that are over, or all if none is: to forget somebody's guesses is better than to
// refuse others.
func (g *guesses) forget(now time.Time) {
	for who, s := range g.seen {
		if !now.Before(s.until) {
			delete(g.seen, who)
		}
	}
	if len(g.seen) >= maxGuessers {
		clear(g.seen)
	}
}
