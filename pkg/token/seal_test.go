package token_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

func ringOf(t *testing.T, keys string) *token.Ring {
	t.Helper()
	r, err := token.Config{Keys: keys}.Ring()
	require.NoError(t, err)
	return r
}

func TestSealedUnderAnyKeyOfTheRing(t *testing.T) {
	t.Parallel()
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	secret, context := []byte("the salt of a day"), []byte("2026-03-14")
	sealed, err := ringOf(t, first).Seal("salts", secret, context)
	require.NoError(t, err)
	require.Len(t, sealed, len(secret)+token.SealedOverhead)
	require.NotContains(t, string(sealed), string(secret))

	rotated := ringOf(t, second+","+first)
	opened, err := rotated.Open("salts", sealed, context)
	require.NoError(t, err)
	require.Equal(t, secret, opened)
	again, err := rotated.Seal("salts", secret, context)
	require.NoError(t, err)
	_, err = ringOf(t, first).Open("salts", again, context)
	require.ErrorIs(t, err, token.ErrSealed, "the first key seals")
	_, err = ringOf(t, second).Open("salts", again, context)
	require.NoError(t, err)
}

func TestResealUnderTheFirstKey(t *testing.T) {
	t.Parallel()
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	secret, context := []byte("secret"), []byte("x")
	old, rotated := ringOf(t, first), ringOf(t, second+","+first)
	sealed, err := old.Seal("secrets", secret, context)
	require.NoError(t, err)
	again, err := old.Reseal("secrets", sealed, context)
	require.NoError(t, err)
	require.Equal(t, sealed, again)
	again, err = rotated.Reseal("secrets", sealed, context)
	require.NoError(t, err)
	opened, err := ringOf(t, second).Open("secrets", again, context)
	require.NoError(t, err)
	require.Equal(t, secret, opened)
	_, err = ringOf(t, second).Reseal("secrets", sealed, context)
	require.ErrorIs(t, err, token.ErrSealed)
}

func TestSealedIsBoundToWhatItIsFor(t *testing.T) {
	t.Parallel()
	r := ringOf(t, token.NewKeys(1).Keys)
	sealed, err := r.Seal("salts", []byte("secret"), []byte("2026-03-14"))
	require.NoError(t, err)
	altered := append([]byte(nil), sealed...)
	altered[len(altered)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another day":     func() ([]byte, error) { return r.Open("salts", sealed, []byte("2026-03-15")) },
		"another purpose": func() ([]byte, error) { return r.Open("else", sealed, []byte("2026-03-14")) },
		"altered":         func() ([]byte, error) { return r.Open("salts", altered, []byte("2026-03-14")) },
		"cut":             func() ([]byte, error) { return r.Open("salts", sealed[:5], []byte("2026-03-14")) },
		"empty":           func() ([]byte, error) { return r.Open("salts", nil, []byte("2026-03-14")) },
	} {
		_, err := open()
		require.ErrorIs(t, err, token.ErrSealed, name)
	}
}
