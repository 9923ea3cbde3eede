package auth

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
)

// makeSession begins a session of a user with a role, or of an API key.
func makeSession(t *testing.T, db *postgres.Pool, of Identity, role Role) (Session, Identity) {
	t.Helper()
	s, i := NewSession(), Identity{AccountID: of.AccountID, SessionID: uuid.New()}
	var user, key *uuid.UUID
	if role != "" {
		i.UserID, i.Scopes = uuid.New(), role.Scopes()
		user = &i.UserID
		_, err := db.Unscoped().Exec(t.Context(), "INSERT INTO users (id, email, email_key) VALUES ($1, 'x', $2)", user,
			user.String())
		require.NoError(t, err)
		_, err = db.Unscoped().Exec(t.Context(), "INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, $3)",
			of.AccountID, user, role)
		require.NoError(t, err)
	} else {
		i.KeyID = of.KeyID
		key = &i.KeyID
	}
	_, err := db.Unscoped().Exec(t.Context(), `INSERT INTO user_sessions (id, account_id, user_id, key_id, method, cookie_hash, key_hash, user_agent)
		VALUES ($1, $2, $3, $4, 'mail', $5, $6, '')`, i.SessionID, of.AccountID, user, key, s.CookieHash[:], s.KeyHash[:])
	require.NoError(t, err)
	return s, i
}

// A session is known by its key and by its cookie, and neither stands for the other.
func TestSessionIsVerified(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	_, of := makeKey(t, db, "read", "keys", "people")
	for _, role := range []Role{Owner, Editor, Analyst, ""} {
		s, want := makeSession(t, db, of, role)
		if role == "" {
			want.Scopes = []Scope{Read} // of the key, without managing people and keys
		}
		for range 2 { // from Postgres, then from memory
			got, err := v.Verify(t.Context(), s.Key)
			require.NoError(t, err)
			require.Equal(t, want, got)
			got, err = v.VerifyCookie(t.Context(), s.Secret)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		for _, wrong := range []string{s.Secret, "lsu_" + s.Secret, s.CSRF, "lsu_" + s.CSRF, "lsu_"} {
			_, err := v.Verify(t.Context(), wrong)
			require.True(t, IsInvalid(err))
		}
		for _, wrong := range []string{s.Key, s.Key[len("lsu_"):], s.CSRF, ""} {
			_, err := v.VerifyCookie(t.Context(), wrong)
			require.True(t, IsInvalid(err))
		}
		require.Equal(t, s, SessionOf(s.Secret))
	}

	// One by a key ends with the key.
	s, _ := makeSession(t, db, of, "")
	_, err := v.Verify(t.Context(), s.Key)
	require.NoError(t, err)
	_, err = db.Unscoped().Exec(t.Context(),
		"UPDATE api_keys SET expires_at = clock_timestamp() - interval '1 ms' WHERE id = $1", of.KeyID)
	require.NoError(t, err)
	c.move(time.Second)
	_, err = v.Verify(t.Context(), s.Key)
	require.True(t, IsInvalid(err))
}

func TestSessionCookies(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
	mine, other := NewSession().Secret, NewSession().Secret
	for name, value := range map[string]string{
		"__Host-lodestone": mine, "__Host-lodestone-8080": other, "__Host-lodestone-1": "x", "lodestone": NewSession().Secret,
		"__Secure-lodestone": NewSession().Secret,
	} {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	require.ElementsMatch(t, []string{mine, other}, SessionCookies(r))
}
