package bot

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"lodestone/pkg/event"
)

//go:generate go run crawlers_gen.go

//go:embed crawlers.tsv
var crawlersFile string

// rulePrefix begins the names of this file's rules.
const rulePrefix = "crawler:"

// Crawlers is the rule by the maintained list of user agents. It is safe for concurrent use.
type Crawlers struct {
	patterns []pattern
	begin    starts                 // of the literals
	index    [1 << startBits][]need // by the first three bytes of the literal
}

type pattern struct {
	name    string
	regexp  *regexp.Regexp // nil: the literal that leads here is the whole pattern
	visitor bool           // it opens pages as a phone or an app, and adds its name
}

// need is a text that is in everything a pattern matches.
type need struct {
	text    string
	pattern int
}

// NewCrawlers reads the list, which is part of the program. It takes some milliseconds.
func NewCrawlers() (*Crawlers, error) {
	c := &Crawlers{}
	for number, line := range strings.Split(crawlersFile, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		text, tags, _ := strings.Cut(line, "\t")
		text, ok := patternOf(text, tags)
		if !ok {
			continue
		}
		p, needs, err := compile(text)
		if err != nil {
			return nil, fmt.Errorf("read list of crawlers, line %d: %w", number+1, err)
		}
		for _, text := range needs {
			i := c.begin.add([]byte(text))
			c.index[i] = append(c.index[i], need{text, len(c.patterns)})
		}
		p.visitor = visits(tags)
		c.patterns = append(c.patterns, p)
	}
	return c, nil
}

// Classify returns the rule of the first pattern of the list that the user agent matches, or "". An
// empty user agent matches none: privacy tools and servers leave it out. Neither does the name of a
// device, and of the names in an app only those of programs that come as one.
func (c *Crawlers) Classify(r Request) string {
	first := c.first(r.UserAgent, false)
	if first < len(c.patterns) && isApp(r.UserAgent) {
		first = c.first(r.UserAgent, true)
	}
	if first == len(c.patterns) {
		return ""
	}
	return c.patterns[first].name
}

// first returns the number of the first pattern that a user agent matches, of those of visitors if
// these alone are asked for, or the number of all patterns.
func (c *Crawlers) first(agent []byte, visitors bool) int {
	first := len(c.patterns)
	from, to := deviceOf(agent)
	last := uint32(0) // bytes
	for i, b := range agent {
		last = last<<8 | uint32(b)
		at := i + 1 - minLiteral
		if !c.begin.has(last) || at < 0 || at >= from && at < to {
			continue
		}
		rest := agent[at:]
		for _, l := range c.index[startOf(last)] {
			if l.pattern >= first || len(rest) < len(l.text) || string(rest[:len(l.text)]) != l.text {
				continue
			}
			p := c.patterns[l.pattern]
			if (p.visitor || !visitors) && (p.regexp == nil || p.regexp.Match(agent)) {
				first = l.pattern
			}
		}
	}
	return first
}

// narrowed are patterns of the list that are also in the user agents of people, with what the
// programs alone say. Nothing: the programs declare themselves, or there are none.
var narrowed = map[string]string{
	`AP3A\.240617\.008`: "", // a release of Android 15
	"MetaIAB Facebook":  "", // the browser within Facebook
	"Sogou":             "", // a browser; its crawlers call themselves spiders
	"Viber":             "^Viber$",
	"WhatsApp":          `^WhatsApp(\/[0-9.]+( [A-Za-z])?)?$`, // old apps add a device
	"Sonic":             `compatible; Sonic\/|RankSonic`,      // ViewSonic makes tablets
	`Code\/1\.`:         "",                                   // Visual Studio Code
	`Trae\/`:            "",
	`Notion\/`:          "",
	"Fluid":             "", // makes an app of a site
	"Fever":             `^Fever\/[0-9.]+ \(Feed Parser`,
	"Expanse":           "^Expanse,",
	"Butterfly":         `compatible; Butterfly\/`,
	`008\/`:             `compatible; 008\/`,
	"Podimo":            "", // an app
	"Chirp|gotosocial":  "gotosocial",
	"TSM-turingos":      "",
	"BTWebClient":       "", // µTorrent
	"NewsBlur":          "NewsBlur (Feed|Page|Content|Favicon)",
	`Fetch\/`:           "",
}

// patternOf returns a pattern of the list as it is used here, false if it is not. The list serves
// people who want all automatic traffic away; here an event needs a valid token, and whoever holds
// one may send.
func patternOf(pattern, tags string) (string, bool) {
	if only, ok := narrowed[pattern]; ok {
		return only, only != ""
	}
	switch pattern {
	// Tagged as libraries, but these programs walk through sites and open what they find.
	case "phpcrawl", "HTTrack", "SimpleCrawler", "crawler4j", "Scrapy", `newspaper\/`, "python-opengraph", "colly",
		"trafilatura", "Download Ninja", "GoParserBot", "larbin", "rawweb-bot":
		return pattern, true
	// Services in which customers build automations: they send events for a person.
	case "Zapier", `Integromat\/`, `SFDC-Callout\/`, `Svix-Webhooks\/`, "Shopify-Captain-Hook", `Recurly Webhooks\/`,
		"Zendesk Webhook", "SendGrid Event API", "SparkPost", `Retool\/`:
		return "", false
	}
	// curl, wget, Go, Python, Java, Node and their like: servers send events with them. Among them
	// is Amazon CloudFront, which puts its own name in the place of every visitor's user agent
	// unless configured to pass that on. Headless browsers have a tag of their own and stay bots.
	return pattern, !hasTag(tags, "http-library")
}

// visits reports whether programs of these kinds open pages as a phone or an app does, to measure
// or to check them. Of the other kinds a name in such a user agent is that of the app in which a
// person reads.
func visits(tags string) bool {
	return hasTag(tags, "monitoring") || hasTag(tags, "advertising") || hasTag(tags, "scanner") ||
		hasTag(tags, "browser-automation")
}

func hasTag(tags, tag string) bool {
	for t := range strings.SplitSeq(tags, ",") {
		if t == tag {
			return true
		}
	}
	return false
}

// compile returns a pattern and its literals: every text that it matches contains at least one.
func compile(text string) (pattern, []string, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, nil, fmt.Errorf("parse pattern: %w", err)
	}
	tree = tree.Simplify()
	needs := RequiredTexts(tree)
	if ShortestText(needs) < minLiteral {
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
