package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

const (
	// SessionCookie begins the names of the dashboard's cookies. Browsers take a cookie of this prefix
	// only with Secure, from this host, for every path, so no other host can set it.
	SessionCookie = "__Host-lodestone"

	sessionKeyPrefix = "lsu_"
	sessionBytes     = 32
	maxCookies       = 4 // of several installations on one host
)

// Session is a new session of the dashboard: the secret of its cookie, the key that is derived from
// it, and what is stored of both.
type Session struct {
	Secret     string            // value of the cookie
	Key        string            // API key of the session. Secret.
	CSRF       string            // token of the session's forms. Secret.
	CookieHash [sha256.Size]byte // of Secret
	KeyHash    [sha256.Size]byte // of Key
}

// NewSession returns a session with a random secret.
func NewSession() Session {
	var secret [sessionBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: crypto/rand ends the process instead
	return SessionOf(base64.RawURLEncoding.EncodeToString(secret[:]))
}

// SessionOf returns the session of a cookie's value. The key cannot be turned back into the cookie,
// so that neither stands for the other, and nothing of either is stored that opens anything.
func SessionOf(secret string) Session {
	s := Session{Secret: secret, Key: sessionKeyPrefix + derive(secret, "key"), CSRF: derive(secret, "form")}
	s.CookieHash, s.KeyHash = hashKey(s.Secret), hashKey(s.Key)
	return s
}

func derive(secret, purpose string) string {
	h := hmac.New(sha256.New, []byte(secret))
	_, _ = h.Write([]byte("lodestone session " + purpose)) // documented never to fail
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// SessionCookies returns the values of a request's cookies that may be those of a session, of
// whichever name: one host may have several installations at different ports, whose cookies a
// browser does not tell apart.
func SessionCookies(r *http.Request) (values []string) {
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, SessionCookie) && encodedSecret(c.Value) && len(values) < maxCookies {
			values = append(values, c.Value)
		}
	}
	return values
}

// encodedSecret reports whether a text has the form of a secret, or of what is derived from one.
func encodedSecret(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == sessionBytes
}

func isSessionKey(key string) bool {
	secret, found := strings.CutPrefix(key, sessionKeyPrefix)
	return found && encodedSecret(secret)
}

// lookUpSession returns the identity of a session that is alive, and how long the answer may be
// cached.
func (v *Verifier) lookUpSession(ctx context.Context, p store.LookUpSessionParams) (Identity, time.Duration, error) {
	s, err := store.New(v.db.Unscoped()).LookUpSession(ctx, p)
	if errors.Is(err, pgx.ErrNoRows) {
		return Identity{}, 0, errInvalid
	}
	if err != nil {
		return Identity{}, 0, fmt.Errorf("look up session: %w", err)
	}
	return IdentityOf(s), time.Duration(min(cacheFor.Seconds(), s.SecondsLeft) * float64(time.Second)), nil
}

// IdentityOf returns the identity of a session. One that was signed in by an API key has the scopes
// of the key, but never manages people or keys.
func IdentityOf(s store.LookUpSessionRow) Identity {
	i := Identity{AccountID: s.AccountID, SessionID: s.ID}
	if s.UserID != nil && s.Role != nil {
		i.UserID, i.Scopes = *s.UserID, Role(*s.Role).Scopes()
		return i
	}
	if s.KeyID != nil {
		i.KeyID = *s.KeyID
	}
	for _, scope := range s.Scopes {
		if !slices.Contains([]Scope{People, Keys}, Scope(scope)) {
			i.Scopes = append(i.Scopes, Scope(scope))
		}
	}
	return i
}
