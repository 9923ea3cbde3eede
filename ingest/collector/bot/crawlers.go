package bot

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"lodestone/pkg/event"
	"lodestone/pkg/literal"
)

//go:generate go run ./gen

//go:embed crawlers.tsv
var crawlersFile string

// rulePrefix begins the names of this file's rules.
const rulePrefix = "crawler:"

// Crawlers is the rule by the maintained list of user agents. It is safe for concurrent use.
type Crawlers struct {
	patterns []pattern
	index    [1 << indexBits][]need // by the first three bytes of the literal
}

type pattern struct {
	name   string
	regexp *regexp.Regexp // nil: the literal that leads here is the whole pattern
}

// need is a text that is in everything a pattern matches.
type need struct {
	text    string
	pattern int
}

// indexBits is how large the index is: most triples of bytes in the user agents of browsers begin no literal, so a user agent
// costs a look for each of its bytes and few comparisons.
const indexBits = 14

func indexOf(first []byte) uint32 {
	return (uint32(first[0])<<16 | uint32(first[1])<<8 | uint32(first[2])) * 2654435761 >> (32 - indexBits)
}

// NewCrawlers reads the list, which is part of the program. It takes some milliseconds.
func NewCrawlers() (*Crawlers, error) {
	c := &Crawlers{}
	for number, line := range strings.Split(crawlersFile, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		text, tags, _ := strings.Cut(line, "\t")
		if excluded(text, tags) {
			continue
		}
		p, needs, err := compile(text)
		if err != nil {
			return nil, fmt.Errorf("read list of crawlers, line %d: %w", number+1, err)
		}
		for _, text := range needs {
			i := indexOf([]byte(text))
			c.index[i] = append(c.index[i], need{text, len(c.patterns)})
		}
		c.patterns = append(c.patterns, p)
	}
	return c, nil
}

// Classify returns the rule of the first pattern of the list that the user agent matches, or "".
// An empty user agent matches none: privacy tools and servers leave it out.
func (c *Crawlers) Classify(r Request) string {
	first := len(c.patterns)
	for rest := r.UserAgent; len(rest) >= minLiteral; rest = rest[1:] {
		for _, l := range c.index[indexOf(rest)] {
			if l.pattern >= first || len(rest) < len(l.text) || string(rest[:len(l.text)]) != l.text {
				continue
			}
			if p := c.patterns[l.pattern]; p.regexp == nil || p.regexp.Match(r.UserAgent) {
				first = l.pattern
			}
		}
	}
	if first == len(c.patterns) {
		return ""
	}
	return c.patterns[first].name
}

// excluded reports whether a pattern of the list is none of ours. The list serves people who want
// all automatic traffic away; here an event needs a valid token, and whoever holds one may send.
func excluded(pattern, tags string) bool {
	switch pattern {
	// Tagged as libraries, but these programs walk through sites and open what they find.
	case "phpcrawl", "HTTrack", "SimpleCrawler", "crawler4j", "Scrapy", `newspaper\/`, "python-opengraph", "colly",
		"trafilatura", "Download Ninja", "GoParserBot", "larbin", "rawweb-bot", "BTWebClient":
		return false
	// Services in which customers build automations: they send events for a person.
	case "Zapier", `Integromat\/`, `SFDC-Callout\/`, `Svix-Webhooks\/`, "Shopify-Captain-Hook", `Recurly Webhooks\/`,
		"Zendesk Webhook", "SendGrid Event API", "SparkPost", `Retool\/`:
		return true
	}
	// curl, wget, Go, Python, Java, Node and their like: servers send events with them. Among them
	// is Amazon CloudFront, which puts its own name in the place of every visitor's user agent
	// unless configured to pass that on. Headless browsers have a tag of their own and stay bots.
	for tag := range strings.SplitSeq(tags, ",") {
		if tag == "http-library" {
			return true
		}
	}
	return false
}

// minLiteral is the length of the shortest literal that the index finds.
const minLiteral = 3

// compile returns a pattern and the literals of which at least one is in everything it matches.
func compile(text string) (pattern, []string, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, nil, fmt.Errorf("parse pattern: %w", err)
	}
	tree = tree.Simplify()
	needs := literal.Required(tree)
	if literal.Shortest(needs) < minLiteral {
		return pattern{}, nil, fmt.Errorf("pattern %q contains no literal of %d bytes to find it by", text, minLiteral)
	}
	p := pattern{name: ruleName(tree)}
	if tree.Op != syntax.OpLiteral || tree.Flags&syntax.FoldCase != 0 {
		if p.regexp, err = regexp.Compile(text); err != nil {
			return pattern{}, nil, fmt.Errorf("compile pattern: %w", err)
		}
	}
	return p, needs, nil
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
