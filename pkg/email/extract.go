package email

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// extract returns the address in a text as people type and paste it: without characters that no one
// sees, with the full-width forms of East Asian keyboards in ASCII, and without what mail programs,
// sentences and tables have around an address. What stands inside an address stays, so that a
// mistake is refused and not guessed at.
func extract(text string) string {
	text = norm.NFC.String(visible(text))
	if name, rest, found := strings.Cut(text, "<"); found {
		inside, behind, _ := strings.Cut(rest, ">")
		if !strings.Contains(behind, "@") && (!strings.Contains(name, "@") || strings.EqualFold(bare(name), bare(inside))) {
			text = inside
		}
	}
	return bare(text)
}

// visible returns a text without characters that take no space, and with full-width forms of ASCII
// as ASCII.
func visible(text string) string {
	joined := strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf && unicode.IsLetter(r) &&
			!isFiller(r) && asciiOf(r) == r
	})
	return strings.Map(func(r rune) rune {
		const nonJoiner, joiner = '\u200c', '\u200d' // they tell words of some scripts apart, and so domains
		switch {
		case joined && (r == nonJoiner || r == joiner):
			return r
		case unicode.Is(unicode.Cf, r), isFiller(r), unicode.In(r, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return asciiOf(r)
	}, text)
}

// isFiller reports whether a letter or sign is drawn as nothing.
func isFiller(r rune) bool { return strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r) }

// asciiOf returns the ASCII character for a wide or small form, or the character itself.
func asciiOf(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '。' || r == '｡' || r == '﹒':
		return '.'
	case r == '﹫':
		return '@'
	}
	return r
}

const (
	scheme = "mailto:"
	around = `<>()[]",;:` + "“”„‟«»‹›‘’‚「」『』【】《》、"
	behind = around + `.!?/\…'}` + "`*_~|"
)

// pairs are marks that may begin an address: they are dropped only where both stand.
var pairs = []string{"''", "``", "**", "__", "~~", "||", "{}"}

// bare returns a text without the marks around it.
func bare(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(around, r) })
	if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		text = strings.TrimLeftFunc(text[len(scheme):], unicode.IsSpace)
		if at := strings.IndexByte(text, '@'); at >= 0 {
			if end := strings.IndexAny(text[at:], "?|"); end >= 0 { // of a subject, or of the text of a link
				text = text[:at+end]
			}
		}
	}
	for _, pair := range pairs {
		if strings.HasPrefix(text, pair[:1]) && strings.HasSuffix(text, pair[1:]) {
			text = text[1:] // the other one ends no domain
			break
		}
	}
	return strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(behind, r) })
}
