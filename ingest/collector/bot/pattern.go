package bot

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"lodestone/pkg/event"
)

// compile returns a pattern and the literals of which at least one is in everything it matches.
func compile(text string) (pattern, []string, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, nil, fmt.Errorf("parse pattern: %w", err)
	}
	tree = tree.Simplify()
	needs := required(tree)
	if len(needs) == 0 {
		return pattern{}, nil, fmt.Errorf("pattern %q contains no literal to find it by", text)
	}
	p := pattern{name: ruleName(tree)}
	if tree.Op != syntax.OpLiteral || tree.Flags&syntax.FoldCase != 0 {
		if p.regexp, err = regexp.Compile(text); err != nil {
			return pattern{}, nil, fmt.Errorf("compile pattern: %w", err)
		}
	}
	return p, needs, nil
}

// required returns literals of which at least one is in everything that an expression matches, or
// nothing if there are no such literals.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := required(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := required(sub)
			if len(found) == 0 {
				return nil
			}
			all = append(all, found...)
		}
		return all
	}
	return nil
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// ruleName returns the stable name of a pattern: its own text without what is no letter of a name,
// such as "crawler:Googlebot" for Googlebot\/.
func ruleName(re *syntax.Regexp) string {
	name := strings.Trim(sample(re), " /\\()<>;:,.+-_")
	name = rulePrefix + name
	for cut := event.MaxBotRuleBytes; len(name) > cut; cut-- {
		if name[cut]&0xc0 != 0x80 { // the first byte of a character
			name = name[:cut]
		}
	}
	return name
}

// sample returns a text that an expression matches, the plainest one.
func sample(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		// The two spellings of a letter, not "any digit" or "anything but".
		if len(re.Rune) == 4 && re.Rune[0] == re.Rune[1] {
			return string(re.Rune[0])
		}
		return ""
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return sample(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sample(sub))
		}
		return b.String()
	default:
		return ""
	}
}
