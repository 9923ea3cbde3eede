package bot

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:generate go run ./gen

//go:embed crawlers.tsv
var crawlersFile string

// rulePrefix begins the names of this file's rules.
const rulePrefix = "crawler:"

// Crawlers is the rule by the maintained list of user agents. It is safe for concurrent use.
type Crawlers struct {
	patterns []pattern
	index    *literals
}

type pattern struct {
	name   string
	regexp *regexp.Regexp // nil: the literal that leads here is the whole pattern
}

// NewCrawlers reads the list, which is part of the program. It takes some milliseconds.
func NewCrawlers() (*Crawlers, error) {
	c := &Crawlers{}
	var words []word
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
		for _, literal := range needs {
			words = append(words, word{literal, len(c.patterns)})
		}
		c.patterns = append(c.patterns, p)
	}
	if c.index = newLiterals(words); len(c.index.output) > maxStates {
		return nil, fmt.Errorf("read list of crawlers: it has outgrown its index of %d states", maxStates)
	}
	return c, nil
}

// Classify returns the rule of the first pattern of the list that the user agent matches, or "".
// An empty user agent matches none: privacy tools and servers leave it out.
func (c *Crawlers) Classify(r Request) string {
	first := len(c.patterns)
	c.index.find(r.UserAgent, func(id int) {
		if id < first && (c.patterns[id].regexp == nil || c.patterns[id].regexp.Match(r.UserAgent)) {
			first = id
		}
	})
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
	// Services in which customers build automations: they send events for somebody.
	case "Zapier", `Integromat\/`, `SFDC-Callout\/`, `Svix-Webhooks\/`, "Shopify-Captain-Hook", `Recurly Webhooks\/`,
		"Zendesk Webhook", "SendGrid Event API", "SparkPost", `Retool\/`:
		return true
	}
	// curl, wget, Go, Python, Java, Node and their like: servers send events with them. Among them
	// is Amazon CloudFront, which puts its own name in the place of every visitor's user agent
	// unless told to pass that on. Headless browsers have a tag of their own and stay bots.
	for tag := range strings.SplitSeq(tags, ",") {
		if tag == "http-library" {
			return true
		}
	}
	return false
}
