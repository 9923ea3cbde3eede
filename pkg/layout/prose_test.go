package layout_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unusual is words that this repository once used for things that have a name in the trade.
var unusual = map[string]string{
	"anew":      "again",
	"door":      "endpoint",
	"doors":     "endpoints",
	"doubtful":  "maybe stored",
	"farewell":  "drain timeout",
	"hungry":    "needs input",
	"mend":      "fix",
	"mended":    "fixed",
	"mends":     "fixes",
	"nobody":    "no one",
	"patience":  "timeout",
	"patient":   "with a long timeout",
	"patiently": "with retries",
	"restless":  "changing",
	"said":      "reported, answered",
	"somebody":  "someone",
	"told":      "sent, notified, answered",
	"turnaway":  "reject",
}

// maxWords is the number of words beyond which a sentence is long, and maxLong the share of long
// sentences.
const (
	maxWords = 35
	maxLong  = 0.04
)

var (
	word = regexp.MustCompile(`[A-Z]?[a-z]+`)
	// notProse is code, tables, headings, HTML and the targets of links.
	notProse = regexp.MustCompile("(?ms)```.*?```|^[|#<].*?$|^  <.*?$|\\]\\(.*?\\)")
	inline   = regexp.MustCompile("`[^`\n]*`")
	items    = regexp.MustCompile(`(?m)^\s*(?:[-*]|\d+\.) `)
	blank    = regexp.MustCompile(`\n\s*\n`)
	ends     = regexp.MustCompile(`[.!?:]\s+`)
)

// Words that a stranger has to guess do not come back, neither as text nor within a name.
func TestWordsOfTheTrade(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, f := range files(t) {
		// Applied migrations stay as they are. owner.go names the user "nobody" of the system.
		if f == "pkg/layout/prose_test.go" || !slices.Contains([]string{".go", ".md", ".sql", ".ts"}, path.Ext(f)) ||
			strings.Contains(f, "/migrations/") || f == "pkg/engine/owner.go" {
			continue
		}
		looked++
		for i, line := range strings.Split(string(read(t, f)), "\n") {
			for _, w := range word.FindAllString(line, -1) {
				if instead, found := unusual[strings.ToLower(w)]; found {
					t.Errorf("%s:%d: %q: say %q", f, i+1, w, instead)
				}
			}
		}
	}
	require.Greater(t, looked, 100)
}

// Documents are read by people who look for one sentence.
func TestSentencesAreShort(t *testing.T) {
	t.Parallel()
	var sentences, long int
	var worst []string
	for _, f := range files(t) {
		if path.Ext(f) != ".md" || f == "CHANGELOG.md" {
			continue
		}
		text := notProse.ReplaceAllString(string(read(t, f)), "\n")
		text = items.ReplaceAllString(inline.ReplaceAllString(text, "code"), "\n\n")
		for _, paragraph := range blank.Split(text, -1) {
			for _, sentence := range ends.Split(paragraph, -1) {
				n := len(strings.Fields(sentence))
				if n < 3 {
					continue
				}
				sentences++
				if n > maxWords {
					long++
					worst = append(worst, f+": "+strings.Join(strings.Fields(sentence), " "))
				}
			}
		}
	}
	require.Greater(t, sentences, 500)
	require.LessOrEqual(t, float64(long)/float64(sentences), maxLong, "%d of %d sentences have more than %d words:\n%s",
		long, sentences, maxWords, strings.Join(worst, "\n"))
}
