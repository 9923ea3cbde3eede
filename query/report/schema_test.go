package report_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// The schema says of each metric and dimension what a question finds: it is answered, or refused
// with both names.
func TestSchemaSaysWhatCombines(t *testing.T) {
	t.Parallel()
	reporter, account, schema := report.New(querytest.Scoped(t)), querytest.ID(t), report.Describe()
	byName := map[string]report.DimensionSchema{}
	for _, d := range schema.Dimensions {
		byName[d.Name] = d
	}
	require.Equal(t, report.Dimensions(),
		namesOf(schema.Dimensions, func(d report.DimensionSchema) string { return d.Name }))
	require.Equal(t, report.Metrics(), namesOf(schema.Metrics, func(m report.MetricSchema) string { return m.Name }))
	for i, d := range schema.Dimensions {
		var allowed []string
		for _, m := range schema.Metrics {
			q := report.Question{Metrics: []string{m.Name}, Dimensions: []string{d.Name}, IncludeBots: d.NeedsBots}
			if slices.Contains(m.Dimensions, d.Name) {
				require.Contains(t, d.Metrics, m.Name)
				allowed = append(allowed, m.Name)
				continue
			}
			require.NotContains(t, d.Metrics, m.Name)
			_, err := reporter.Answer(t.Context(), account, []report.Question{q}, []string{""})
			var refused *problem.Problem
			require.ErrorAs(t, err, &refused, "%s by %s", m.Name, d.Name)
			require.Contains(t, refused.Error(), fmt.Sprintf("%s cannot be combined with the metric %s", d.Name, m.Name))
		}
		require.True(t, report.Combines(allowed, d.Name), d.Name)
		// The database is asked for ten metrics of each dimension, not the same of each.
		parts := slices.Collect(slices.Chunk(allowed, 10))
		q := report.Question{Metrics: parts[i%len(parts)], Dimensions: []string{d.Name}, IncludeBots: d.NeedsBots}
		_, err := reporter.Answer(t.Context(), account, []report.Question{q}, []string{""})
		require.NoError(t, err, "%v by %s", q.Metrics, d.Name)
	}
	_, err := reporter.Answer(t.Context(), account,
		[]report.Question{{Metrics: []string{"events"}, Dimensions: []string{"bot"}}}, []string{""})
	require.True(t, problem.Is(err, problem.ValidationError))
	require.True(t, byName["bot"].NeedsBots)
}

func namesOf[T any](list []T, name func(T) string) (names []string) {
	for _, one := range list {
		names = append(names, name(one))
	}
	return names
}

// The document defines each metric in the words of the schema, and names each dimension.
func TestDocumentDefinesEveryWord(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reports.md")
	require.NoError(t, err)
	schema := report.Describe()
	defined := tableOf(string(text), "Metrics")
	for _, m := range schema.Metrics {
		require.NotEmpty(t, m.Description, m.Name)
		require.Equal(t, m.Description, defined[m.Name], "%s in the table of metrics of docs/reports.md", m.Name)
	}
	named := tableOf(string(text), "Dimensions")
	for _, d := range schema.Dimensions {
		require.Contains(t, named, d.Name, "in the table of dimensions of docs/reports.md")
	}
}

// tableOf returns the second column of the table of a section, by the names in the first one.
func tableOf(document, section string) map[string]string {
	_, after, _ := strings.Cut(document, "\n## "+section+"\n")
	section, _, _ = strings.Cut(after, "\n## ")
	cells := map[string]string{}
	for line := range strings.Lines(section) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 {
			continue
		}
		for name := range strings.SplitSeq(columns[1], ",") {
			cells[strings.Trim(name, "` ")] = strings.ReplaceAll(strings.TrimSpace(columns[2]), "`", "")
		}
	}
	return cells
}
