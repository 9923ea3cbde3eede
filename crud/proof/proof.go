// Package proof makes the secrets by which someone proves to read a mailbox: a link or a code in a
// mail, for a page that waits.
package proof

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lukechampine.com/blake3"

	"lodestone/pkg/token"
)

// Secrets are those of one proof. The link and the code are derived from the page's secret with a
// key of the installation, so that a mail can be sent again without anything of it being stored,
// and who has only the page's secret cannot make them.
type Secrets struct {
	Page string // of the browser that waits
	Link string // in the mail
	Code string // in the mail: six digits
}

const codeDigits = 6

// New returns the secrets of a new proof.
func New(key [token.KeyBytes]byte) Secrets { return secretsOf(key, Random()) }

// Random returns a secret of 130 random bits.
func Random() string { return strings.ToLower(rand.Text()) }

// Again returns the secrets of a page whose link has a hash, as the first mail had them. keys are
// those that may have made them.
func Again(keys [][token.KeyBytes]byte, page string, linkHash []byte) Secrets {
	for _, key := range keys {
		if s := secretsOf(key, page); bytes.Equal(Hash(s.Link), linkHash) {
			return s
		}
	}
	return secretsOf(keys[0], page) // the key of then is gone, and the first mail is void
}

func secretsOf(key [token.KeyBytes]byte, page string) Secrets {
	link := keyed(key, "link", page)
	code := keyed(key, "code", page)
	return Secrets{
		Page: page,
		Link: strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(link[:20])),
		Code: fmt.Sprintf("%0*d", codeDigits, binary.BigEndian.Uint64(code[:8])%1_000_000),
	}
}

func keyed(key [token.KeyBytes]byte, purpose, text string) (out [32]byte) {
	h := blake3.New(len(out), key[:])
	_, _ = h.Write([]byte(purpose + "\x00" + text)) // documented never to fail
	copy(out[:], h.Sum(nil))
	return out
}

// Hash returns the stored hash of a secret of 130 bits or more.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// CodeHash returns the stored hash of a code. It includes the page's secret, since a million codes
// are soon tried.
func CodeHash(page, code string) []byte { return Hash(page + "\x00" + code) }

// IsCode reports whether a text can be a code, as people type it.
func IsCode(typed string) bool {
	text := Digits(typed)
	return len(text) == codeDigits && !strings.Contains(text, "x")
}

// Digits returns the digits of a code as people type and paste it: in the digits of any script, and
// with blanks, marks and invisible characters anywhere. A letter becomes an x.
func Digits(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Nd, r):
			return digit(r)
		case unicode.IsLetter(r), unicode.IsNumber(r), r == utf8.RuneError:
			return 'x'
		}
		return -1
	}, text)
}

// digit returns the ASCII digit of a decimal digit. Unicode has the digits of each script in a row,
// from zero to nine.
func digit(r rune) rune {
	for _, table := range unicode.Nd.R16 {
		if r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	for _, table := range unicode.Nd.R32 {
		if r <= rune(table.Hi) {
			return '0' + (r-rune(table.Lo))%10
		}
	}
	return 'x'
}
