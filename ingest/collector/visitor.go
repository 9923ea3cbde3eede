package collector

import (
	"net/netip"
	"time"

	"github.com/google/uuid"
)

// visitor is the client's address while a request is worked on. It goes nowhere else.
type visitor struct {
	addr netip.Addr
	keep bool // make a hash of it
}

// hashes remembers the last hash of a request: its events mostly belong to one account.
type hashes struct {
	account uuid.UUID
	hash    [16]byte
	ok      bool
}

func (h *hashes) of(by Hasher, account uuid.UUID, addr netip.Addr, at time.Time) ([16]byte, bool) {
	if h.account != account {
		h.hash, h.ok = by.Hash(account, addr, at)
		h.account = account
	}
	return h.hash, h.ok
}
