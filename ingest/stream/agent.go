package stream

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru"
	"github.com/ua-parser/uap-go/uaparser"
	"go.yaml.in/yaml/v3"

	"lodestone/pkg/bot"
)

// agentNames are the browser and the operating system of a user agent. They are empty if there is
// no user agent, and otherAgent if it is none of the known.
//
// The consumer derives the names when it makes a row, so that later lists do not change what is
// stored. A record has the user agent alone: collectors of any release write the same record, and
// what becomes a row depends on the log and on the release of the consumer. A block that is built
// again by another release may have other names. That doubles and loses nothing: an insert is
// recognised by its token and a stored row by its offset, and neither depends on the names.
type agentNames struct {
	Browser, OS string
}

// String returns the names as they are stored, with a slash between them, or nothing if there are
// none.
func (n agentNames) String() string {
	if n == (agentNames{}) {
		return ""
	}
	return n.Browser + "/" + n.OS
}

// agentParser names user agents and remembers the names. It is safe for concurrent use.
type agentParser struct {
	known *lru.Cache // of agentNames by user agent
}

// memoSize bounds how many user agents are remembered. They have 512 bytes at most, and 130
// usually.
const memoSize = 16_384

// newAgentParser returns a parser.
func newAgentParser() *agentParser {
	known, _ := lru.New(memoSize) // it fails for a size below one
	return &agentParser{known}
}

// Names returns the names of a user agent.
func (p *agentParser) Names(userAgent string) agentNames {
	if userAgent == "" {
		return agentNames{}
	}
	if known, ok := p.known.Get(userAgent); ok {
		return known.(agentNames)
	}
	names := loadedAgentRules().names(userAgent)
	p.known.Add(userAgent, names)
	return names
}

// agentRules are the expressions of the list that is part of the program.
type agentRules struct {
	list uaparser.RegexDefinitions
	// Texts in lower case: each user agent that the expression of the same index matches contains
	// at least one. Of the list's hundreds of expressions, only a few are tried then: that takes
	// 0.1 ms instead of 2 for each user agent that was not seen lately, and clients make up any
	// number of them.
	browsers, systems [][]string
}

// loadedAgentRules returns the one copy of the rules in the process: they take some megabytes, and
// 0.1 s to read.
var loadedAgentRules = sync.OnceValue(func() *agentRules {
	r, err := loadAgentRules()
	if err != nil { // the list is part of the program, and a test reads it
		return &agentRules{}
	}
	return r
})

func loadAgentRules() (*agentRules, error) {
	r := &agentRules{}
	if err := yaml.Unmarshal(uaparser.DefinitionYaml, &r.list); err != nil {
		return nil, fmt.Errorf("read list of user agents: %w", err)
	}
	// the longest part, which no one asks for
	r.list.Device = nil
	if _, err := uaparser.New(
		uaparser.WithRegexDefinitions(r.list)); err != nil { // compiles the expressions where they are
		return nil, fmt.Errorf("compile list of user agents: %w", err)
	}
	for _, p := range r.list.UA {
		needs, err := literalsOf(p.Flags, p.Expr)
		if err != nil {
			return nil, err
		}
		r.browsers = append(r.browsers, needs)
	}
	for _, p := range r.list.OS {
		needs, err := literalsOf(p.Flags, p.Expr)
		if err != nil {
			return nil, err
		}
		r.systems = append(r.systems, needs)
	}
	return r, nil
}

func literalsOf(flags, expression string) ([]string, error) {
	if flags != "" {
		expression = "(?" + flags + ")" + expression
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("read list of user agents: %w", err)
	}
	return bot.RequiredTextsInLower(tree.Simplify()), nil
}

// names returns the names by the first expression of each list that matches.
func (r *agentRules) names(userAgent string) agentNames {
	var (
		browser uaparser.UserAgent
		system  uaparser.Os
	)
	lower := strings.ToLower(userAgent)
	for i, p := range r.list.UA {
		if browser.Family == "" && mayMatch(lower, r.browsers[i]) {
			p.Match(userAgent, &browser)
		}
	}
	for i, p := range r.list.OS {
		if system.Family == "" && mayMatch(lower, r.systems[i]) {
			p.Match(userAgent, &system)
		}
	}
	if name := ownBrowser(userAgent, browser.Family); name != "" {
		return agentNames{name, tidySystem(system.Family)}
	}
	return agentNames{tidyBrowser(browser.Family), tidySystem(system.Family)}
}

func mayMatch(lower string, needs []string) bool {
	for _, need := range needs {
		if strings.Contains(lower, need) {
			return true
		}
	}
	return len(needs) == 0
}
