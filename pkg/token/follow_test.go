package token_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/token"
)

// The first key changes while rings are in use: what was made before stays valid, and what is made
// after has the new key.
func TestARingFollowsItsFile(t *testing.T) {
	t.Parallel()
	old, fresh := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	file := filepath.Join(t.TempDir(), "token-keys")
	secret := config.NewSecret(config.SecretConfig{Setting: "--token-keys", Path: file,
		Value: old, Check: token.Follows(old)})
	look := func(text string) (bool, error) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
		_, err := secret.Look()
		require.NoError(t, err)
		return secret.Look()
	}
	ring, err := token.Config{Keys: old, Secret: secret}.Ring()
	require.NoError(t, err)
	claims := token.Claims{AccountID: uuid.New(), LeadMagnetID: uuid.New()}
	subject, ends := []byte("subject"), time.Now().Add(time.Hour)
	signed, grant := ring.Sign(claims), ring.Grant("test", subject, nil, ends)
	sealed, err := ring.Seal("test", []byte("secret"), subject)
	require.NoError(t, err)
	holds := func() {
		t.Helper()
		got, err := ring.Verify([]byte(signed))
		require.NoError(t, err)
		require.Equal(t, claims, got)
		_, err = ring.OpenGrant("test", subject, grant, time.Now())
		require.NoError(t, err)
		text, err := ring.Open("test", sealed, subject)
		require.NoError(t, err)
		require.Equal(t, "secret", string(text))
	}
	holds()

	for _, bad := range []string{fresh, "2:short", old + "," + old} {
		taken, err := look(bad)
		require.Error(t, err, "the key that signs has to stay")
		require.False(t, taken)
		require.NotContains(t, err.Error(), bad[3:])
		holds()
	}
	frozen, serial := ring.Frozen(), ring.Serial()
	for _, keys := range []string{old + "," + fresh, fresh + "," + old} {
		taken, err := look(keys)
		require.NoError(t, err)
		require.True(t, taken)
		holds()
	}
	require.NotEqual(t, serial, ring.Serial())
	require.Equal(t, []byte{2, 1}, ring.IDs())
	require.Equal(t, []byte{1}, frozen.IDs())
	require.NotEqual(t, signed, ring.Sign(claims))
	again, err := ring.Reseal("test", sealed, subject)
	require.NoError(t, err)
	require.NotEqual(t, sealed, again)

	taken, err := look(fresh)
	require.NoError(t, err)
	require.True(t, taken, "the old key goes when the new one signs")
	_, err = ring.Verify([]byte(signed))
	require.ErrorIs(t, err, token.ErrInvalid)
	text, err := ring.Open("test", again, subject)
	require.NoError(t, err)
	require.Equal(t, "secret", string(text))
}
