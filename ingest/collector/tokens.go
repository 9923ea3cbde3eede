package collector

import (
	"hash/maphash"
	"sync/atomic"

	"lodestone/pkg/token"
)

// tokens verifies tokens, and remembers those that verified: a reader sends one for page after page. Finding one here costs a fifth of
// verifying it. What is found is exact, since the whole text is compared, and is as good as a check, since the keys stay the same as long
// as the process. It is bounded, and safe for concurrent use.
type tokens struct {
	ring  *token.Ring
	seed  maphash.Seed
	slots []atomic.Pointer[knownToken] // each holds the token that came last of those that share it
}

type knownToken struct {
	text   string
	claims token.Claims
}

// newTokens returns a tokens that remembers none yet.
func newTokens(ring *token.Ring) *tokens {
	const slots = 4096 // about a megabyte
	return &tokens{ring, maphash.MakeSeed(), make([]atomic.Pointer[knownToken], slots)}
}

// Verify returns the claims of a token, which must not be changed, or the error of the ring.
func (t *tokens) Verify(text []byte) (*token.Claims, error) {
	slot := &t.slots[maphash.Bytes(t.seed, text)%uint64(len(t.slots))]
	if k := slot.Load(); k != nil && k.text == string(text) {
		return &k.claims, nil
	}
	claims, err := t.ring.Verify(text)
	if err != nil {
		return nil, err
	}
	k := &knownToken{string(text), claims}
	slot.Store(k)
	return &k.claims, nil
}
