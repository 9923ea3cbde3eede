package bot

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// RequiredTexts returns a set of texts: every match of the expression contains at least one. It is
// empty if there is no such set. To look for them takes far less time than the expression, so that
// most expressions of a long list need not be tried.
func RequiredTexts(re *syntax.Regexp) []string { return required(re, false) }

// RequiredTextsInLower does so for everything that the expression matches in lower case. It finds
// texts in more expressions: those whose case does not matter.
func RequiredTextsInLower(re *syntax.Regexp) []string { return required(re, true) }

func required(re *syntax.Regexp, lower bool) []string {
	switch re.Op {
	case syntax.OpLiteral:
		switch {
		case lower:
			return []string{strings.ToLower(string(re.Rune))}
		case re.Flags&syntax.FoldCase == 0:
			return []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		if letter, ok := bothCases(re); ok && lower {
			return []string{string(letter)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0], lower)
	case syntax.OpConcat:
		return requiredOfParts(re.Sub, lower)
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := required(sub, lower)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

// requiredOfParts returns the texts of the part with the longest ones. Parts that are a text each,
// side by side, are one part.
func requiredOfParts(parts []*syntax.Regexp, lower bool) (best []string) {
	joined := ""
	for _, part := range parts {
		found := required(part, lower)
		if len(found) == 1 && (part.Op == syntax.OpLiteral || part.Op == syntax.OpCharClass) {
			joined += found[0]
			found = []string{joined}
		} else {
			joined = ""
		}
		if ShortestText(found) > ShortestText(best) {
			best = found
		}
	}
	return best
}

// bothCases returns the letter, in lower case, of a class of its two cases, such as [Bb].
func bothCases(re *syntax.Regexp) (rune, bool) {
	r := re.Rune // pairs of the first and the last of a range
	if len(r) != 4 || r[0] != r[1] || r[2] != r[3] {
		return 0, false
	}
	letter := unicode.ToLower(r[0])
	return letter, letter == unicode.ToLower(r[2])
}

// ShortestText returns the length of the shortest text, 0 if there is none.
func ShortestText(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
