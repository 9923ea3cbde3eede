package collector

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

func TestKnownTokensAreThoseThatVerify(t *testing.T) {
	t.Parallel()
	ring, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	k := newTokens(ring)
	k.slots = k.slots[:2] // so that they share
	all := map[string]token.Claims{}
	for range 20 {
		c := token.Claims{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New()}
		all[ring.Sign(c)] = c
	}
	for range 3 {
		for text, want := range all {
			for range 2 {
				got, err := k.Verify([]byte(text))
				require.NoError(t, err)
				require.Equal(t, want, *got)
			}
			altered := []byte(text)
			altered[30] ^= 1
			for range 2 {
				_, err := k.Verify(altered)
				require.ErrorIs(t, err, token.ErrInvalid)
			}
		}
	}
}
