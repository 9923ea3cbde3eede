package collector

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"
	"pgregory.net/rapid"
)

// The hash agrees with the library's hasher, so that collectors of all versions agree.
func TestHashIsKeyedBLAKE3(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bytes := func(name string) []byte { return rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, name) }
		secret, message := bytes("secret"), bytes("message")
		hasher := blake3.New(16, secret)
		_, err := hasher.Write(message)
		require.NoError(t, err)
		require.Equal(t, [16]byte(hasher.Sum(nil)), newSalt(time.Now(), secret).hash((*[32]byte)(message)))
	})
}

// BenchmarkHash is the hash of a visitor's address.
func BenchmarkHash(b *testing.B) {
	now := time.Now()
	salts := &Salts{}
	salts.set.Store(&saltSet{[]*salt{newSalt(midnight(now), make([]byte, saltBytes))}})
	account, client := uuid.New(), netip.MustParseAddr("203.0.113.1")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := salts.Hash(account, client, now); !ok {
			b.Fatal("no salt")
		}
	}
}
