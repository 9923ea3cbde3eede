package token

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"lukechampine.com/blake3"

	"lodestone/pkg/config"
)

// KeyBytes is the length of a signing key.
const KeyBytes = 32

// Config is the setting of everyone who makes or verifies tokens.
type Config struct {
	Keys string `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, each a number from 0 to 255, a colon and 32 bytes in base64. The first key signs; the others still verify. Secret."`
	// Secret is the setting's file, if it is in one: a ring follows it.
	Secret *config.Secret `kong:"-"`
}

// AfterApply implements the hook of kong.
func (c *Config) AfterApply(f *config.Files) error {
	c.Secret = f.Secret(&c.Keys, Follows(c.Keys))
	return nil
}

// Follows returns a check of a new setting, for a process that runs with this one or what followed
// it. It has to have the key that signs now: everything is sealed under it. To end a key that
// leaked, restart the processes with a setting that lacks it.
func Follows(keys string) func(text string) error {
	signing, err := parse(keys) // wrong settings are refused elsewhere
	return func(text string) error {
		fresh, wrong := parse(text)
		if wrong != nil {
			return wrong
		}
		if err == nil && !slices.ContainsFunc(fresh.keys, func(k *key) bool { return k.same(signing.keys[0]) }) {
			return config.Invalid("--token-keys", "lacks the key that signs now",
				"keep key "+strconv.Itoa(int(signing.keys[0].id))+" in it, or restart the process to end that key")
		}
		signing, err = fresh, nil
		return nil
	}
}

// Ring holds the keys: the first one signs, all of them verify. They may be others with each call.
// It is safe for concurrent use.
type Ring struct{ set atomic.Pointer[keySet] }

// keySet is the keys of one setting. It does not change.
type keySet struct {
	serial uint64 // higher than that of the set before
	keys   []*key
	byID   [256]*key
}

type key struct {
	id     byte
	secret []byte
	pool   sync.Pool // of *maker: making one costs more than the MAC
}

// maker makes MACs. The hasher reads its buffers only, so that the caller's stay on the stack.
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

// same reports whether two keys have the same id and secret.
func (k *key) same(other *key) bool { return k.id == other.id && bytes.Equal(k.secret, other.secret) }

func (r *Ring) find(id byte) *key { return r.set.Load().byID[id] }

// now returns the keys at this time.
func (r *Ring) now() []*key { return r.set.Load().keys }

// Derive returns a key for another purpose than tokens, derived from the key that signs: the same
// in every process with the same setting, and another one when the first key of the setting
// changes. Nothing about the key that signs, or about other purposes, can be learnt from it.
func (r *Ring) Derive(purpose string) [KeyBytes]byte { return r.DeriveEach(purpose)[0] }

// DeriveEach returns the key of Derive, followed by those derived from the other keys of the ring.
// What was sealed with any of them is still accepted, so that a new first key of the setting ends
// nothing that visitors hold.
func (r *Ring) DeriveEach(purpose string) [][KeyBytes]byte {
	keys := r.now()
	out := make([][KeyBytes]byte, len(keys))
	for i, k := range keys {
		blake3.DeriveKey(out[i][:], "lodestone "+purpose, k.secret)
	}
	return out
}

// IDs returns the ids of the keys: the first one signs and seals. To use them with the keys, take
// both from Frozen.
func (r *Ring) IDs() []byte {
	keys := r.now()
	ids := make([]byte, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	return ids
}

// Frozen returns a ring that keeps the keys of this time, for steps that must agree on them.
func (r *Ring) Frozen() *Ring {
	f := &Ring{}
	f.set.Store(r.set.Load())
	return f
}

// Serial returns a number that changes when the keys do.
func (r *Ring) Serial() uint64 { return r.set.Load().serial }

// urlAlphabet turns standard base64, which openssl prints, into the URL form without padding.
var urlAlphabet = strings.NewReplacer("+", "-", "/", "_", "=", "")

// Validate implements the check of settings.
func (c Config) Validate() error {
	_, err := parse(c.Keys)
	return err
}

// Ring returns the keys of the setting, and from then on those of its file, or an error that names
// the remedy, but no key.
func (c Config) Ring() (*Ring, error) {
	set, err := parse(c.Keys)
	if err != nil {
		return nil, err
	}
	r := &Ring{}
	r.set.Store(set)
	c.Secret.OnChange(func(text string) {
		if fresh, err := parse(text); err == nil { // as its check has seen
			fresh.serial = r.Serial() + 1
			r.set.Store(fresh)
		}
	})
	return r, nil
}

// parse's errors name no key.
func parse(text string) (*keySet, error) {
	if text == "" {
		return nil, config.Invalid("--token-keys", "is missing",
			"give at least one key, such as 1: followed by the output of `openssl rand -base64 32`")
	}
	r := &keySet{}
	for i, part := range strings.Split(text, ",") {
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
		k := &key{id: byte(id), secret: secret,
			pool: sync.Pool{New: func() any { return &maker{hasher: blake3.New(macBytes, secret)} }}}
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
