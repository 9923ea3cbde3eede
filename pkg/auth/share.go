package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const shareKeyPrefix = "lsh_"

// shareToken is the form of tokens: 130 random bits in base32.
var shareToken = regexp.MustCompile(`^[a-z2-7]{26}$`)

// Share is a link that shows statistics: the token of its URL, the key that its page asks the API
// with, and what is stored of both.
type Share struct {
	Token     string
	Key       string            // API key of the page. Secret, also from who has the token.
	TokenHash [sha256.Size]byte // of Token
	KeyHash   [sha256.Size]byte // of Key
}

// NewShareToken returns a random token.
func NewShareToken() string { return strings.ToLower(rand.Text()) }

// IsShareToken reports whether a text has the form of a token.
func IsShareToken(text string) bool { return shareToken.MatchString(text) }

// ShareOf returns the share of a token. The key takes a secret of the server: who has the token
// reads the page, and not the API.
func ShareOf(text string, secret [token.KeyBytes]byte) Share {
	h := hmac.New(sha256.New, secret[:])
	_, _ = h.Write([]byte(text)) // documented never to fail
	s := Share{Token: text, Key: shareKeyPrefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil))}
	s.TokenHash, s.KeyHash = hashKey(s.Token), hashKey(s.Key)
	return s
}

func isShareKey(key string) bool {
	secret, found := strings.CutPrefix(key, shareKeyPrefix)
	return found && encodedSecret(secret)
}

// lookUpShare returns the identity of a share that is open, and how long the answer may be cached.
func (v *Verifier) lookUpShare(ctx context.Context, hash [sha256.Size]byte) (Identity, time.Duration, error) {
	s, err := store.New(v.db.Unscoped()).LookUpShare(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Identity{}, 0, errInvalid
	}
	if err != nil {
		return Identity{}, 0, fmt.Errorf("look up share: %w", err)
	}
	i := Identity{AccountID: s.AccountID, ReportID: s.ID, Scopes: []Scope{Read}}
	return i, time.Duration(min(cacheFor.Seconds(), s.SecondsLeft) * float64(time.Second)), nil
}
