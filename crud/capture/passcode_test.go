package capture

import (
	"context"
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Who hangs up has made a guess, if it was compared; who waits for the turn of the link has not.
func TestGuessesOfWhoHangsUp(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	tokens, err := token.Config{Keys: token.NewKeys(1).Keys}.Ring()
	require.NoError(t, err)
	c := New(Config{}, Deps{Postgres: db, Limiter: ratelimit.NewVisitors(db, tokens)})
	hash, err := c.passwords.Hash(t.Context(), "sesame 7")
	require.NoError(t, err)
	link, client := store.GenericLink{ID: uuid.New(), PasscodeHash: &hash}, netip.MustParseAddr("203.0.113.9")
	used := func() (n int) {
		require.NoError(t, db.Unscoped().QueryRow(t.Context(), `SELECT coalesce(sum(used), 0) FROM visitor_counts`).Scan(&n))
		return n
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.Equal(t, Invalid{FieldPasscode: "wrong.passcode"}, c.countGuess(gone, link, client))
	require.Equal(t, 2, used(), "of the network, and of everyone")

	turn := c.turns[link.ID[len(link.ID)-1]%turns]
	turn <- struct{}{}
	require.ErrorIs(t, c.checkPasscode(gone, link, Form{Passcode: "wrong one"}, client), context.Canceled)
	require.Equal(t, 2, used())
	<-turn
	require.NoError(t, c.checkPasscode(t.Context(), link, Form{Passcode: "sesame 7"}, client))
	require.Equal(t, 2, used())
	require.Error(t, c.checkPasscode(t.Context(), link, Form{Passcode: "wrong one"}, client))
	require.Equal(t, 4, used())
}
