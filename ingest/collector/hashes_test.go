package collector

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// toldApart is a hasher whose hashes say what they are of.
type toldApart struct{ asked int }

func (h *toldApart) Hash(account uuid.UUID, client netip.Addr, at time.Time) ([16]byte, bool) {
	h.asked++
	hash := [16]byte(account)
	binary.BigEndian.PutUint32(hash[:], binary.BigEndian.Uint32(hash[:])^binary.BigEndian.Uint32(client.AsSlice()))
	return hash, at.Unix() > 0
}

// A visitor's hash is never another's, whichever accounts share a place and however many requests came before.
func TestHashesAreThoseOfTheRequest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, hasher := &hashes{request: math.MaxUint32 - 3}, &toldApart{}
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			h.begin()
			client := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "client")))
			at := time.Unix(rapid.Int64Range(0, 1).Draw(t, "at"), 0)
			for _, account := range rapid.SliceOfN(rapid.Uint16Range(0, 300), 1, 40).Draw(t, "accounts") {
				id := uuid.UUID{14: byte(account >> 8), 15: byte(account)}
				hash, ok := h.of(hasher, id, client, at)
				want, wanted := hasher.Hash(id, client, at)
				require.Equal(t, want, hash)
				require.Equal(t, wanted, ok)
			}
		}
	})
}

func TestAnAddressIsHashedOncePerAccountAndRequest(t *testing.T) {
	t.Parallel()
	h, hasher := &hashes{}, &toldApart{}
	for request := range 3 {
		h.begin()
		for range 5 {
			for account := range byte(20) {
				h.of(hasher, uuid.UUID{15: account}, netip.MustParseAddr("203.0.113.1"), time.Now())
			}
		}
		require.Equal(t, 20*(request+1), hasher.asked)
	}
}
