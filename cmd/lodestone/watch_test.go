package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireWatched fails unless a process that has just started shows every metric that docs/operations.md says to watch,
// with its labels: an alarm on the increase misses the first value of a series that was not there.
func requireWatched(t *testing.T, metrics string) {
	t.Helper()
	document, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(document), "## What to watch\n")
	require.True(t, found)
	table, _, _ := strings.Cut(rest, "\n## ")
	name := regexp.MustCompile("`(lodestone_[a-z_]+)(?:\\{([^}]*)\\})?`")
	watched := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, metric := range name.FindAllStringSubmatch(cells[1], -1) {
			watched++
			series := `(?m)^` + metric[1] + `(\{| )`
			if metric[2] != "" {
				var labels []string
				for label := range strings.SplitSeq(metric[2], ",") {
					label, value, _ := strings.Cut(label, "=")
					if value == "" {
						value = `"[^"]+"`
					}
					labels = append(labels, label+"="+value)
				}
				series = `(?m)^` + metric[1] + `\{[^}]*` + strings.Join(labels, `[^}]*`)
			}
			require.Regexp(t, series, metrics, "docs/operations.md names %s", metric[0])
		}
	}
	require.Greater(t, watched, 25)
}
