package collector

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// distinctHashes is a hasher whose hashes say what they are of.
type distinctHashes struct{ asked int }

func (h *distinctHashes) Hash(account uuid.UUID, client netip.Addr, at time.Time) ([16]byte, bool) {
	h.asked++
	hash := [16]byte(account)
	binary.BigEndian.PutUint32(hash[:], binary.BigEndian.Uint32(hash[:])^binary.BigEndian.Uint32(client.AsSlice()))
	return hash, at.Unix() > 0
}

// A client's hash is never another's, and each account's events have their own, in whatever order
// they come.
func TestHashesAreThoseOfTheRequest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hasher := &distinctHashes{}
		client := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "client")))
		from := sender{addr: client, receivedAt: time.Unix(rapid.Int64Range(0, 1).Draw(t, "at"), 0)}
		for _, account := range rapid.SliceOfN(rapid.Uint16Range(0, 3), 1, 40).Draw(t, "accounts") {
			id := uuid.UUID{0: 1, 15: byte(account)}
			hash, ok := from.hashFor(id, hasher)
			want, wanted := hasher.Hash(id, client, from.receivedAt)
			require.Equal(t, want, hash)
			require.Equal(t, wanted, ok)
		}
	})
}

func TestAnAddressIsHashedOnceForEventsOfOneAccount(t *testing.T) {
	t.Parallel()
	hasher := &distinctHashes{}
	from := sender{addr: netip.MustParseAddr("203.0.113.1"), receivedAt: time.Now()}
	for range 5 {
		from.hashFor(uuid.UUID{15: 1}, hasher)
	}
	require.Equal(t, 1, hasher.asked)
}
