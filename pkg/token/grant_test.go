package token_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

func TestGrantOpensForItsPurposeSubjectAndTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	r := ringOf(t, first)
	grant := r.Grant("passes", []byte("link"), []byte("session"), now.Add(time.Hour))
	require.Equal(t, grant, r.Grant("passes", []byte("link"), []byte("session"), now.Add(time.Hour)))
	for _, ring := range []*token.Ring{r, ringOf(t, second+","+first)} {
		body, err := ring.OpenGrant("passes", []byte("link"), grant, now)
		require.NoError(t, err)
		require.Equal(t, "session", string(body))
	}
	raw, err := base64.RawURLEncoding.DecodeString(grant)
	require.NoError(t, err)
	for i := range raw {
		altered := append([]byte(nil), raw...)
		altered[i] ^= 1
		_, err := r.OpenGrant("passes", []byte("link"), base64.RawURLEncoding.EncodeToString(altered), now)
		require.ErrorIs(t, err, token.ErrInvalid)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another purpose": func() ([]byte, error) { return r.OpenGrant("else", []byte("link"), grant, now) },
		"another subject": func() ([]byte, error) { return r.OpenGrant("passes", []byte("other"), grant, now) },
		"ended":           func() ([]byte, error) { return r.OpenGrant("passes", []byte("link"), grant, now.Add(time.Hour)) },
		"another key": func() ([]byte, error) {
			return ringOf(t, second).OpenGrant("passes", []byte("link"), grant, now)
		},
		"cut":   func() ([]byte, error) { return r.OpenGrant("passes", []byte("link"), grant[:20], now) },
		"empty": func() ([]byte, error) { return r.OpenGrant("passes", []byte("link"), "", now) },
		"text":  func() ([]byte, error) { return r.OpenGrant("passes", []byte("link"), "no grant!", now) },
	} {
		_, err := open()
		require.ErrorIs(t, err, token.ErrInvalid, name)
	}
}

// The form stays as it is: passes of sessions and previews that were made before an upgrade open
// after it.
func TestGrantHasItsForm(t *testing.T) {
	t.Parallel()
	r := ringOf(t, token.NewKeys(1).Keys)
	key := r.Derive("passes")
	signed := append([]byte("session"), 0, 0, 0, 0, 0x6b, 0x49, 0xd2, 0x00)
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte("link"))
	h.Write(signed)
	require.Equal(t, base64.RawURLEncoding.EncodeToString(append(signed, h.Sum(nil)[:16]...)),
		r.Grant("passes", []byte("link"), []byte("session"), time.Unix(1_800_000_000, 0)))
}
