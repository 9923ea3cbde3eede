package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"
)

// A grant lets its holder do something until a time, and stands in URLs: base64url without padding
// of
//
//	body · end (8 bytes, big-endian: seconds since 1970) · MAC (16)
//
// The MAC (HMAC-SHA256) covers a subject, which the grant does not hold, and all bytes before it.
// Its key is derived for the purpose of the grant.
const (
	endBytes      = 8
	grantMACBytes = 16
)

func grantMAC(key [KeyBytes]byte, subject, signed []byte) []byte {
	h := hmac.New(sha256.New, key[:])
	h.Write(subject)
	h.Write(signed)
	return h.Sum(nil)[:grantMACBytes]
}

// Grant returns a grant for a purpose and a subject that holds a body, under the ring's first key.
// It is the same each time. Safe for concurrent use.
func (r *Ring) Grant(purpose string, subject, body []byte, ends time.Time) string {
	signed := binary.BigEndian.AppendUint64(slices.Clone(body), uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(signed, grantMAC(r.Derive(purpose), subject, signed)...))
}

// OpenGrant returns the body of a grant for a purpose and a subject under any key of the ring and
// has not ended at a time. Its error is ErrInvalid. Safe for concurrent use.
func (r *Ring) OpenGrant(purpose string, subject []byte, grant string, now time.Time) (body []byte, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(grant)
	at := len(raw) - grantMACBytes
	if err != nil || at < endBytes || !slices.ContainsFunc(r.DeriveEach(purpose), func(key [KeyBytes]byte) bool {
		return hmac.Equal(raw[at:], grantMAC(key, subject, raw[:at]))
	}) {
		return nil, ErrInvalid
	}
	if body = raw[:at-endBytes]; now.Unix() >= int64(binary.BigEndian.Uint64(raw[len(body):at])) {
		return nil, ErrInvalid
	}
	return body, nil
}
