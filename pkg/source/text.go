// Package source says where a visitor came from, in the form in which it is stored. Views of all
// kinds and forms store the same form, so that a campaign is one row of a report.
package source

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text returns text from outside as it is stored: valid UTF-8 in normal form C, of at most so many
// characters, without control characters, without characters that show nothing, and without blanks
// at its ends. Every other blank is a space.
func Text(text string, limit int) string {
	if !printable(text) {
		text = norm.NFC.String(strings.Map(shown, text))
	}
	text = strings.Trim(text, blank)
	if len(text) <= limit {
		return text
	}
	characters := 0
	for at := range text {
		if characters == limit {
			return strings.TrimRight(text[:at], blank)
		}
		characters++
	}
	return text
}

// printable reports whether a text has nothing but printable ASCII, as most have.
func printable[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Parts of words and signs in some scripts, which show nothing by themselves.
const joiner, nonJoiner = '\u200d', '\u200c'

const blank = " " + string(joiner) + string(nonJoiner)

// shown returns what is kept of a character, or -1.
func shown(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == joiner || r == nonJoiner:
		return r
	case r == utf8.RuneError || !unicode.IsPrint(r):
		return -1
	}
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // letters and signs that show nothing
		return -1
	}
	return r
}

// Agent returns a user agent as it is stored: valid UTF-8 in normal form C, of at most so many
// bytes, with U+FFFD for a byte that is none. It aliases the text if nothing had to be changed.
func Agent(text []byte, limit int) []byte {
	text = text[:boundary(text, limit)]
	if printable(text) {
		return text
	}
	valid := []byte(norm.NFC.String(string([]rune(string(text)))))
	return valid[:boundary(valid, limit)]
}

// boundary returns where a text of at most so many bytes ends, which is not in the middle of a
// character.
func boundary[T string | []byte](text T, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for end := limit; end > limit-utf8.UTFMax && end > 0; end-- {
		if utf8.RuneStart(text[end]) {
			return end
		}
	}
	return limit // it is no UTF-8
}

// cut returns a text of at most so many bytes. It cuts between characters, and neither a
// percent-escape nor the escapes of one character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[:boundary(text, limit)]
	if at := strings.LastIndexByte(text, '%'); at >= 0 && at > len(text)-len("%00") {
		text = text[:at]
	}
	at, tail := len(text), []byte{}
	for len(tail) < utf8.UTFMax && at >= len("%00") {
		b, ok := escaped(text[at-len("%00") : at])
		if !ok {
			break
		}
		at, tail = at-len("%00"), append([]byte{b}, tail...)
		if utf8.RuneStart(b) {
			if !utf8.FullRune(tail) {
				return text[:at]
			}
			break
		}
	}
	return text
}

// escaped returns the byte of the percent-escape that a text begins with.
func escaped(text string) (b byte, ok bool) {
	if len(text) < len("%00") || text[0] != '%' {
		return 0, false
	}
	high, ok := hex(text[1])
	low, also := hex(text[2])
	return high<<4 | low, ok && also
}

func hex(c byte) (n byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
