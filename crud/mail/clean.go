package mail

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a character is seen by programs only, or turns the direction of others.
// The two joiners are letters' business in many scripts.
func isControl(r rune) bool {
	return r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Clean returns a text that a visitor typed as one line of at most so many characters, without
// control characters and those that turn the direction of what follows: it can begin no header and
// no line, and looks like what it is.
func Clean(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) ||
			unicode.In(r, unicode.Zl, unicode.Zp)
	}), " ")
	text = strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) > limit {
		text = strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
	}
	return text
}
