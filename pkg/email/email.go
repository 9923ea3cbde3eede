// Package email says what an email address is to Lodestone and when two are the same.
package email

import (
	"errors"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MaxBytes is the length of the longest address that mail servers carry.
const MaxBytes = 254

const (
	maxLocalBytes = 64
	maxLabelBytes = 63
)

// Address is an email address.
type Address struct {
	Text string // as typed, in normal form C
	Key  string // in lower case and in normal form C, with the domain in its ASCII form: what is compared
}

// Errors of Parse; their texts complete a sentence that begins with the field's name.
var (
	errForm   = errors.New("must be an email address, such as jo@example.com")
	errLength = errors.New("must be an email address of at most 254 bytes, 64 of them before the @")
)

// Parse reads an address as a person or a program sends it: local@domain, with a dot in the domain
// and letters of any script. What surrounds an address is dropped: blanks and invisible characters,
// a name and angle brackets, mailto:, quotes and punctuation. Comments and quotes inside an
// address, and several addresses, are refused. The error says what is allowed.
func Parse(text string) (Address, error) {
	if !utf8.ValidString(text) {
		return Address{}, errForm
	}
	// in normal form C: e and a combining accent are one letter, whatever keyboard or program wrote it
	text = extract(text)
	at := strings.LastIndexByte(text, '@')
	if at < 1 {
		return Address{}, errForm
	}
	if len(text) > MaxBytes || at > maxLocalBytes {
		return Address{}, errLength
	}
	local := text[:at]
	if looseDots(text[at+1:]) && strings.Trim(local, ".") != "" && local[0] != '.' {
		local = strings.Join(strings.FieldsFunc(local, func(r rune) bool { return r == '.' }), ".")
	}
	if !dotted(local, localRune) || !domain(text[at+1:]) {
		return Address{}, errForm
	}
	// The rules above are stricter than this in all that was thought of.
	if parsed, err := mail.ParseAddress((&mail.Address{Address: text}).String()); err != nil || parsed.Address != text {
		return Address{}, errForm
	}
	return Address{text, Key(text)}, nil
}

// Key returns what is compared of an address. A domain is the same in Unicode and in ASCII (xn--).
func Key(text string) string {
	lower := Normal(text)
	at := strings.LastIndexByte(lower, '@')
	ascii, err := idna.Lookup.ToASCII(lower[at+1:])
	if err != nil || !domain(ascii) || at+1+len(ascii) > MaxBytes { // it is no domain of the DNS
		return lower
	}
	return lower[:at+1] + ascii
}

// Normal returns a text in lower case and in normal form C, as keys are, for what looks for a part
// of an address.
func Normal(text string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(text)))
}

// Mailbox returns what is counted as one mailbox: providers deliver jo+1@ and jo+2@ to the same.
func (a Address) Mailbox() string {
	at := strings.LastIndexByte(a.Key, '@')
	local, domain := a.Key[:at], a.Key[at:]
	if plus := strings.IndexByte(local, '+'); plus > 0 {
		local = local[:plus]
	}
	if domain == "@gmail.com" || domain == "@googlemail.com" {
		local, domain = strings.ReplaceAll(local, ".", ""), "@gmail.com"
	}
	return local + domain
}

// looseDots reports whether a domain has mailboxes with two dots in a row or a dot before the @,
// such as jo..doe@docomo.ne.jp: Japanese carriers gave such until 2009. Elsewhere these are
// mistakes. Mails to them need a quoted name (RFC 5321), which mail.Address writes.
func looseDots(domain string) bool {
	domain = "." + strings.ToLower(domain)
	return slices.ContainsFunc([]string{".docomo.ne.jp", ".ezweb.ne.jp", ".au.com"},
		func(carrier string) bool { return strings.HasSuffix(domain, carrier) })
}

func domain(text string) bool {
	if !strings.Contains(text, ".") || !dotted(text, labelRune) {
		return false
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) > maxLabelBytes || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return strings.Trim(text[strings.LastIndexByte(text, '.')+1:], "0123456789") != "" // no top-level domain is a number
}

// dotted reports whether a text consists of non-empty parts of allowed characters between dots.
func dotted(text string, allowed func(rune) bool) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !allowed(r) }) {
			return false
		}
	}
	return true
}

func localRune(r rune) bool {
	return letter(r) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

func labelRune(r rune) bool { return letter(r) || r == '-' }

func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}
