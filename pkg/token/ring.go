package token

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"lukechampine.com/blake3"

	"lodestone/pkg/config"
)

// KeyBytes is the length of a signing key.
const KeyBytes = 32

// Config is the setting of everyone who makes or verifies tokens.
type Config struct {
	Keys string `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, each a number from 0 to 255, a colon and 32 bytes in base64. The first key signs; the others still verify. Secret."`
}

// Ring holds the keys: the first one signs, all of them verify. It is safe for concurrent use.
type Ring struct {
	keys []*key
	byID [256]*key
}

type key struct {
	id     byte
	secret []byte
	pool   sync.Pool // of *maker: making one costs more than the MAC
}

// maker makes MACs. Its buffers are what the hasher sees, so that the caller's can stay on the
// stack.
type maker struct {
	hasher *blake3.Hasher
	body   [maxBodyBytes]byte
	sum    [macBytes]byte
}

// mac returns the MAC of at most maxBodyBytes.
func (k *key) mac(body []byte) [macBytes]byte {
	m := k.pool.Get().(*maker)
	n := copy(m.body[:], body)
	m.hasher.Reset()
	_, _ = m.hasher.Write(m.body[:n]) // documented never to fail
	m.hasher.Sum(m.sum[:0])
	out := m.sum
	k.pool.Put(m)
	return out
}

func (r *Ring) find(id byte) *key { return r.byID[id] }

// Derive returns a key for another purpose than tokens, derived from the key that signs: the same in every
// process with the same setting, and another one when the first key of the setting changes. Nothing
// about the key that signs, or about other purposes, can be learnt from it.
func (r *Ring) Derive(purpose string) [KeyBytes]byte { return r.DeriveEach(purpose)[0] }

// DeriveEach returns the key of Derive, followed by those derived from the other keys of the ring. What was sealed with
// any of them is still accepted, so that a new first key of the setting ends nothing that visitors hold.
func (r *Ring) DeriveEach(purpose string) [][KeyBytes]byte {
	out := make([][KeyBytes]byte, len(r.keys))
	for i, k := range r.keys {
		blake3.DeriveKey(out[i][:], "lodestone "+purpose, k.secret)
	}
	return out
}

// IDs returns the ids of the keys: the first one signs and seals.
func (r *Ring) IDs() []byte {
	ids := make([]byte, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// urlAlphabet turns standard base64, which openssl prints, into the URL form without padding.
var urlAlphabet = strings.NewReplacer("+", "-", "/", "_", "=", "")

// Validate implements the check of settings.
func (c Config) Validate() error {
	_, err := c.Ring()
	return err
}

// Ring returns the keys of the setting, or an error that names the remedy, but no key.
func (c Config) Ring() (*Ring, error) {
	if c.Keys == "" {
		return nil, config.Invalid("--token-keys", "is missing", "give at least one key, such as 1: followed by the output of `openssl rand -base64 32`")
	}
	r := &Ring{}
	for i, part := range strings.Split(c.Keys, ",") {
		idText, keyText, found := strings.Cut(strings.TrimSpace(part), ":")
		id, err := strconv.ParseUint(idText, 10, 8)
		secret, decodeErr := base64.RawURLEncoding.DecodeString(urlAlphabet.Replace(keyText))
		if !found || err != nil || decodeErr != nil || len(secret) != KeyBytes {
			return nil, config.Invalid("--token-keys", "has a wrong entry at position "+strconv.Itoa(i+1),
				"write a number from 0 to 255, a colon and 32 bytes in base64")
		}
		if r.byID[id] != nil {
			return nil, config.Invalid("--token-keys", "has key id "+idText+" twice", "give each key its own id")
		}
		k := &key{id: byte(id), secret: secret, pool: sync.Pool{New: func() any { return &maker{hasher: blake3.New(macBytes, secret)} }}}
		r.keys, r.byID[id] = append(r.keys, k), k
	}
	return r, nil
}

// NewKeys returns a fresh setting with one random key of the id given.
func NewKeys(id byte) Config {
	var secret [KeyBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: crypto/rand ends the process instead
	return Config{Keys: strconv.Itoa(int(id)) + ":" + base64.RawURLEncoding.EncodeToString(secret[:])}
}
