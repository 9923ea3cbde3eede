package collector

import (
	"net/netip"
	"time"

	"github.com/google/uuid"
)

// visitor is the client's address while a request is worked on. It goes nowhere else.
type visitor struct {
	addr netip.Addr
	keep bool       // make a hash of it
	from netip.Addr // whoever sends, also where no hash is made: for limits
}

// hashes remembers the hashes of a request, one for each account that its events belong to: a server sends those of
// many visitors at once. It takes the hash from 0.12 to 0.05 µs an event in batches of 100.
type hashes struct {
	slots [64]struct {
		account uuid.UUID
		hash    [16]byte
		ok      bool
		request uint32 // that it belongs to; that of another is none
	}
	request uint32
}

// begin forgets what was remembered, since the next request comes from another visitor.
func (h *hashes) begin() {
	if h.request++; h.request == 0 { // after four billion
		*h = hashes{request: 1}
	}
}

func (h *hashes) of(by Hasher, account uuid.UUID, addr netip.Addr, at time.Time) ([16]byte, bool) {
	s := &h.slots[account[len(account)-1]%uint8(len(h.slots))] // which is random
	if s.request != h.request || s.account != account {
		s.hash, s.ok = by.Hash(account, addr, at)
		s.account, s.request = account, h.request
	}
	return s.hash, s.ok
}
