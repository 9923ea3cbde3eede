// Package token makes and verifies tracking tokens: they tell the collector to which account,
// lead magnet and link an event belongs without any look-up, and keep strangers from writing into
// another account's analytics.
//
// A token is base64url without padding of
//
//	format (1 byte, 1) · key id (1) · flags (1) · file version (4, big-endian) ·
//	account id (16) · lead magnet id (16) · [generic link id (16)] · [access link id (16)] ·
//	MAC (16: keyed BLAKE3 of all bytes before it)
//
// Bit 0 of the flags says that a generic link id follows, bit 1 that an access link id does.
package token

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

const (
	format         = 1
	flagGeneric    = 1 << 0
	flagAccess     = 1 << 1
	headerBytes    = 7
	macBytes       = 16
	maxBodyBytes   = headerBytes + 4*16
	maxTokenBytes  = maxBodyBytes + macBytes
	maxTokenLength = (maxTokenBytes*8 + 5) / 6
)

// Claims are the contents of a token. A zero UUID means that there is none.
type Claims struct {
	AccountID     uuid.UUID
	LeadMagnetID  uuid.UUID
	GenericLinkID uuid.UUID
	AccessLinkID  uuid.UUID // zero: a landing page's token, which can record link views only
	MagnetVersion uint32    // version of the lead magnet's file, 0 if it has none yet
}

// ErrInvalid is the error of Verify. It does not tell which check failed.
var ErrInvalid = errors.New("the token is not one of ours, or was altered")

// Sign returns the token of the claims, signed with the ring's first key. Safe for concurrent use.
func (r *Ring) Sign(c Claims) string {
	var buf [maxTokenBytes]byte
	key := r.now()[0]
	buf[0], buf[1] = format, key.id
	binary.BigEndian.PutUint32(buf[3:], c.MagnetVersion)
	n := headerBytes
	n += copy(buf[n:], c.AccountID[:])
	n += copy(buf[n:], c.LeadMagnetID[:])
	if c.GenericLinkID != uuid.Nil {
		buf[2] |= flagGeneric
		n += copy(buf[n:], c.GenericLinkID[:])
	}
	if c.AccessLinkID != uuid.Nil {
		buf[2] |= flagAccess
		n += copy(buf[n:], c.AccessLinkID[:])
	}
	mac := key.mac(buf[:n])
	n += copy(buf[n:], mac[:])
	return base64.RawURLEncoding.EncodeToString(buf[:n])
}

// Verify returns the claims of a token, or ErrInvalid. It allocates nothing, takes the same time
// for every wrong MAC, and is safe for concurrent use.
func (r *Ring) Verify(text []byte) (Claims, error) {
	var buf [maxTokenBytes]byte
	if len(text) == 0 || len(text) > maxTokenLength {
		return Claims{}, ErrInvalid
	}
	// A token has one spelling only. Even the strict decoder skips line breaks.
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return Claims{}, ErrInvalid
	}
	size, err := strict.Decode(buf[:], text)
	if err != nil || size < headerBytes+2*16+macBytes || buf[0] != format || buf[2]&^(flagGeneric|flagAccess) != 0 {
		return Claims{}, ErrInvalid
	}
	key := r.find(buf[1])
	if key == nil {
		return Claims{}, ErrInvalid
	}
	body := buf[:size-macBytes]
	mac := key.mac(body)
	if subtle.ConstantTimeCompare(mac[:], buf[size-macBytes:size]) != 1 {
		return Claims{}, ErrInvalid
	}
	c := Claims{MagnetVersion: binary.BigEndian.Uint32(buf[3:])}
	ids := body[headerBytes:]
	for _, part := range [...]struct {
		id      *uuid.UUID
		present bool
	}{
		{&c.AccountID, true},
		{&c.LeadMagnetID, true},
		{&c.GenericLinkID, buf[2]&flagGeneric != 0},
		{&c.AccessLinkID, buf[2]&flagAccess != 0},
	} {
		if !part.present {
			continue
		}
		if len(ids) < 16 {
			return Claims{}, ErrInvalid
		}
		*part.id = uuid.UUID(ids[:16])
		ids = ids[16:]
	}
	if len(ids) != 0 {
		return Claims{}, ErrInvalid
	}
	return c, nil
}

var strict = base64.RawURLEncoding.Strict()
