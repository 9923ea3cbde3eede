package notice

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
)

// sumBytes is how many bytes of the hash of an address a grant has.
const sumBytes = 16

// never is when grants in mails end: an address can end its notices for good.
var never = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// grant returns a grant that names an account and, by its hash, the address that the account's
// notices go to.
func (n *Notices) grant(purpose string, account uuid.UUID, to string) string {
	return n.deps.Tokens.Grant(purpose, nil, append(account[:], sumOf(to)...), never)
}

func sumOf(to string) []byte {
	sum := sha256.Sum256([]byte(to))
	return sum[:sumBytes]
}

// open returns the account that a grant names, and whether the grant is for an address.
func (n *Notices) open(purpose, text string) (account uuid.UUID, isFor func(to string) bool, ok bool) {
	body, err := n.deps.Tokens.OpenGrant(purpose, nil, text, n.deps.Now())
	if err != nil || len(body) != len(account)+sumBytes {
		return account, nil, false
	}
	return uuid.UUID(body[:len(account)]), func(to string) bool { return hmac.Equal(body[len(account):], sumOf(to)) }, true
}
