package capture

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"

	"lukechampine.com/blake3"

	"lodestone/pkg/token"
)

// secrets are those of one verification. The link and the code are derived from the page's secret
// with a key of the installation, so that a mail can be sent again without anything of it being stored,
// and who has only the page's secret cannot make them.
type secrets struct {
	page string // in the address of the page that waits
	link string // in the mail
	code string // in the mail: six digits
}

const codeDigits = 6

// newSecrets returns the secrets of a new verification.
func (c *Capture) newSecrets() secrets { return secretsOf(c.keys[0], strings.ToLower(rand.Text())) }

// secretsAgain returns the secrets of a verification whose link has a hash, as its first mail had them.
func (c *Capture) secretsAgain(page string, linkHash []byte) secrets {
	for _, key := range c.keys {
		if s := secretsOf(key, page); bytes.Equal(hash(s.link), linkHash) {
			return s
		}
	}
	return secretsOf(c.keys[0], page) // the key of then is gone, and the first mail is void
}

func secretsOf(key [token.KeyBytes]byte, page string) secrets {
	link := keyed(key, "link", page)
	code := keyed(key, "code", page)
	return secrets{
		page: page,
		link: strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(link[:20])),
		code: fmt.Sprintf("%0*d", codeDigits, binary.BigEndian.Uint64(code[:8])%1_000_000),
	}
}

func keyed(key [token.KeyBytes]byte, purpose, text string) (out [32]byte) {
	h := blake3.New(len(out), key[:])
	_, _ = h.Write([]byte(purpose + "\x00" + text)) // documented never to fail
	copy(out[:], h.Sum(nil))
	return out
}

// hash is what is stored of a secret of 130 bits or more.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// codeHash is what is stored of a code: with the page's secret in it, since a million codes are soon
// tried.
func codeHash(page, code string) []byte { return hash(page + "\x00" + code) }

// IsCode reports whether a text can be a code, as people type it.
func IsCode(typed string) bool {
	text := digits(typed)
	return len(text) == codeDigits && !strings.Contains(text, "x")
}

// digits returns the digits of a code as people type it, with spaces or a hyphen in the middle.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\u2011' {
			return -1
		}
		return 'x'
	}, strings.TrimSpace(text))
}
