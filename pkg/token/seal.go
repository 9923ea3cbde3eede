package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"lukechampine.com/blake3"
)

// SealedOverhead is by how many bytes a sealed secret is longer than the secret.
const SealedOverhead = 12 + 16 // nonce and tag of AES-GCM

// ErrSealed is the error of Open. It does not say which key was tried.
var ErrSealed = errors.New("it was sealed under none of the token keys, or was altered")

// Seal encrypts a secret (AES-256-GCM) under a key that is derived, for the purpose, from the key
// that signs. Open needs the same purpose and context. Safe for concurrent use.
func (r *Ring) Seal(purpose string, secret, context []byte) ([]byte, error) {
	aead, err := r.now()[0].aead(purpose)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(secret)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the process instead
	return aead.Seal(nonce, nonce, secret, context), nil
}

// Open decrypts what was sealed with any key of the ring, so that a new first key loses nothing as
// long as the one before it is kept. Its error is ErrSealed. Safe for concurrent use.
func (r *Ring) Open(purpose string, sealed, context []byte) ([]byte, error) {
	return open(r.now(), purpose, sealed, context)
}

func open(keys []*key, purpose string, sealed, context []byte) ([]byte, error) {
	for _, k := range keys {
		aead, err := k.aead(purpose)
		if err != nil {
			return nil, err
		}
		if len(sealed) < SealedOverhead {
			break
		}
		if secret, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], context); err == nil {
			return secret, nil
		}
	}
	return nil, ErrSealed
}

// OpenedBy returns the id of the key that opens a sealed secret. Safe for concurrent use.
func (r *Ring) OpenedBy(purpose string, sealed, context []byte) (id byte, ok bool) {
	for _, k := range r.now() {
		if _, err := open([]*key{k}, purpose, sealed, context); err == nil {
			return k.id, true
		}
	}
	return 0, false
}

// Reseal returns a secret that was sealed with any key of the ring, sealed with the first one: the
// argument itself if it is. Its error is ErrSealed. Safe for concurrent use.
func (r *Ring) Reseal(purpose string, sealed, context []byte) ([]byte, error) {
	keys := r.now()
	if _, err := open(keys[:1], purpose, sealed, context); !errors.Is(err, ErrSealed) {
		return sealed, err
	}
	secret, err := open(keys[1:], purpose, sealed, context)
	if err != nil {
		return nil, err
	}
	return r.Seal(purpose, secret, context)
}

func (k *key) aead(purpose string) (cipher.AEAD, error) {
	var derived [KeyBytes]byte
	blake3.DeriveKey(derived[:], "lodestone sealing "+purpose, k.secret)
	block, err := aes.NewCipher(derived[:])
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return aead, nil
}
