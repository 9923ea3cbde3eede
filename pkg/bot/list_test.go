package bot

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// published returns the user agents of a file of testdata, whose README names the sources.
func published(t *testing.T, name string) (agents []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if agent, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); agent != "" && agent[0] != '#' {
			agents = append(agents, agent)
		}
	}
	return agents
}

// Of the browsers in two published lists, at most one in a thousand is taken for a program.
func TestBrowsersArePeople(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for name, least := range map[string]int{"browsers-yauaa.tsv": 4000, "browsers-user-agents.txt": 900} {
		agents := published(t, name)
		require.Greater(t, len(agents), least)
		var wrong []string
		for _, agent := range agents {
			if rule := r.Classify(Request{UserAgent: []byte(agent)}); rule != "" {
				wrong = append(wrong, rule+": "+agent)
			}
		}
		require.LessOrEqual(t, len(wrong), len(agents)/1000, "%s:\n%s", name, strings.Join(wrong, "\n"))
	}
}

// saysSo is how the list's programs say what they are. It is not how the rules look for it.
var saysSo = regexp.MustCompile(`(?i)bot\b|bot[/_-]|crawl|spider|preview|fetch|monitor|scan|\+https?:`)

// Of the programs in a published list that say what they are, at least nine in ten are found.
func TestProgramsThatSaySoAreFound(t *testing.T) {
	t.Parallel()
	r := rules(t)
	declaring := 0
	var missed []string
	for _, agent := range published(t, "bots-yauaa.txt") {
		if !saysSo.MatchString(agent) {
			continue
		}
		declaring++
		if r.Classify(Request{UserAgent: []byte(agent)}) == "" {
			missed = append(missed, agent)
		}
	}
	require.Greater(t, declaring, 400)
	require.LessOrEqual(t, len(missed), declaring/10, strings.Join(missed, "\n"))
}
