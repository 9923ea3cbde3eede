package email

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MentionsJSON reports whether a string of a JSON text mentions an address, given by its key, in whatever way the text escapes it. What
// is no JSON is taken as it is.
func MentionsJSON(text []byte, key string) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil { // the end, or no JSON: the rest is looked at as it is
			return Mentions(string(text[d.InputOffset():]), key)
		}
		if t.Kind() == '"' && Mentions(t.String(), key) {
			return true
		}
	}
}

// Mentions reports whether a text has an address in it, given by its key. It takes an address for mentioned rather than not: marks before
// an address, such as quotes, and letters of other scripts around it count as part of it and as none.
func Mentions(text, key string) bool {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			return false
		}
		at += next
		local, domain := text[:at], text[at+1:]
		if i := strings.LastIndexFunc(local, notLocal); i >= 0 {
			local = after(local, i)
		}
		if i := strings.IndexFunc(domain, notLabel); i >= 0 {
			domain = domain[:i]
		}
		domains := []string{strings.TrimRight(domain, ".-")}
		if i := strings.IndexFunc(domain, isForeign); i >= 0 {
			domains = append(domains, strings.TrimRight(domain[:i], ".-"))
		}
		for {
			if slices.ContainsFunc(domains, func(d string) bool { return Key(local+"@"+d) == key }) {
				return true
			}
			mark := strings.IndexFunc(local, isMark)
			if mark < 0 {
				break
			}
			local = after(local, mark)
		}
	}
}

// after returns what follows the character at an index.
func after(text string, i int) string {
	_, size := utf8.DecodeRuneInString(text[i:])
	return text[i+size:]
}

func notLocal(r rune) bool { return !localRune(r) && r != '.' }

func notLabel(r rune) bool { return !labelRune(r) && r != '.' }

func isForeign(r rune) bool { return r >= utf8.RuneSelf }

func isMark(r rune) bool { return isForeign(r) || strings.ContainsRune("!#$%&'*/=?^`{|}~", r) }
