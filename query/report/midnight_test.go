package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
	"lodestone/query/report"
)

// A session that goes on over hours and midnight, when addresses get other hashes, is one session
// of one reader in the totals, and one in each interval.
func TestASessionOverMidnight(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	link := querytest.ID(t)
	hashes := [][16]byte{{1}, {1}, {}, {2}}                                    // the third event came without a salt
	for i, minute := range []int{9*60 + 50, 11*60 + 59, 12 * 60, 12*60 + 10} { // from 21:50 until 00:10
		s.view(link, 1, i+1, minute, time.Second, "")
		s.events[i].IPHash = hashes[i]
	}
	s.store()
	answer := func(by report.Interval) (rows [][]float64, totals []float64) {
		answers, err := report.New(querytest.Scoped(t)).Answer(t.Context(), s.account, []report.Question{
			{Metrics: []string{"sessions", "readers", "people", "page_views"}, From: "2026-03-01", To: "2026-03-03",
				Interval: by, Timezone: "UTC"},
		}, []string{"question"})
		require.NoError(t, err)
		numbers := func(of report.Numbers) (out []float64) {
			for _, n := range of.Now {
				out = append(out, *n)
			}
			return out
		}
		for _, row := range answers[0].Rows {
			if n := numbers(row.Numbers); n[0] > 0 {
				rows = append(rows, n)
			}
		}
		return rows, numbers(answers[0].Totals)
	}
	for by, want := range map[report.Interval][][]float64{
		report.Day:  {{1, 1, 1, 2}, {1, 1, 1, 2}},
		report.Hour: {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 2}},
	} {
		rows, totals := answer(by)
		require.Equal(t, want, rows, by)
		require.Equal(t, []float64{1, 1, 1, 4}, totals, by)
	}
}
