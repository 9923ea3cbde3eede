package landing

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"

	"github.com/google/uuid"
)

// seesSecond reports whether the visitor of a page sees the second of two headlines. Half of the
// visitors do, and each always the same one from the same address and browser, though nothing is
// stored, neither here nor there: a hash that no one can foresee decides.
func (l *Landing) seesSecond(r *http.Request, link uuid.UUID) bool {
	key := l.deps.Tokens.Derive("headlines of landing pages")
	h := hmac.New(sha256.New, key[:])
	h.Write(link[:])
	h.Write(l.deps.Addresses.Client(r).AsSlice())
	h.Write([]byte(r.UserAgent()))
	return h.Sum(nil)[0]&1 == 1
}
