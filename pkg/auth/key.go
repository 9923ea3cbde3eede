package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

const (
	keyPrefix     = "lsk_"
	secretLength  = 32 // base62 characters, 190 bits
	sumLength     = 6
	maxSecret     = 128 // longest that a later version may make
	shownLength   = len(keyPrefix) + 8
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base62Largest = 256 - 256%len(base62) // bytes from here on would favour the first characters
)

// Key is a new key: its text, shown once, and the parts that are stored.
type Key struct {
	Text   string            // lsk_, random base62 characters and a checksum. Secret.
	Prefix string            // the first characters, to recognise it by
	Hash   [sha256.Size]byte // of the text
}

// NewKey returns a new key. Its checksum lets a typo be rejected without a look-up.
func NewKey() Key {
	secret := randomBase62(secretLength)
	text := keyPrefix + secret + checksum(secret)
	return Key{text, text[:shownLength], hashKey(text)}
}

// randomBase62 returns n random characters. Safe for concurrent use.
func randomBase62(n int) string {
	out := make([]byte, 0, n)
	var block [64]byte
	for {
		_, _ = rand.Read(block[:]) // never fails: crypto/rand ends the process instead
		for _, b := range block {
			if int(b) >= base62Largest {
				continue
			}
			if out = append(out, base62[int(b)%len(base62)]); len(out) == n {
				return string(out)
			}
		}
	}
}

// checksum returns the CRC-32 of a secret as six base62 characters.
func checksum(secret string) string {
	sum := crc32.ChecksumIEEE([]byte(secret))
	var out [sumLength]byte
	for i := sumLength - 1; i >= 0; i-- {
		out[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(out[:])
}

// wellFormed reports whether a text has the form and the checksum of a key.
func wellFormed(key string) bool {
	body, found := strings.CutPrefix(key, keyPrefix)
	if !found || len(body) < secretLength+sumLength || len(body) > maxSecret+sumLength {
		return false
	}
	for i := range len(body) {
		if strings.IndexByte(base62, body[i]) < 0 {
			return false
		}
	}
	secret := body[:len(body)-sumLength]
	return checksum(secret) == body[len(secret):]
}

// hashKey returns the hash that is stored for a key. A key is long and random, so one round of
// SHA-256 is as good as a slow hash.
func hashKey(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }
