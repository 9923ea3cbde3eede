package reader_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
	"lodestone/query/report"
)

// A report's number of people is the length of the list with the corresponding filter.
func TestReportsCountWhomTheListHas(t *testing.T) {
	t.Parallel()
	pool, reports := enginetest.SharedPostgres(t), report.New(querytest.Scoped(t))
	for seed := range uint64(1) {
		m := newModel(t, pool, seed+40)
		m.fill()
		from := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -20)
		to := from.AddDate(0, 0, 15)
		total := func(f reader.Filter) int64 {
			t.Helper()
			f.From, f.To = &from, &to
			page, err := m.readers.Page(t.Context(), m.account, f, 0, 1)
			require.NoError(t, err)
			return page.Total
		}
		for _, magnet := range m.magnets[:1] {
			yes, no := true, false
			counted := []struct {
				metric string
				list   reader.Filter
			}{
				{"people", reader.Filter{}}, {"people_finished", reader.Filter{Finished: &yes}},
				{"people_downloaded", reader.Filter{Downloaded: &yes}},
				{"people_without_form", reader.Filter{FromForm: &no}},
			}
			question := report.Question{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly),
				Filters: []report.Condition{{Dimension: "lead_magnet_id", Values: []any{magnet.String()}}}}
			for _, c := range counted {
				question.Metrics = append(question.Metrics, c.metric)
			}
			answers, err := reports.Answer(t.Context(), m.account, []report.Question{question}, []string{""})
			require.NoError(t, err)
			for i, c := range counted {
				c.list.LeadMagnetID = &magnet
				require.InDelta(t, total(c.list), *answers[0].Totals.Now[i], 0, "seed %d: %s", seed, c.metric)
			}
			for version := range 3 {
				pages, err := reports.Pages(t.Context(), m.account, report.PagesQuestion{LeadMagnetID: magnet,
					Version: &version, From: &from, To: &to})
				require.NoError(t, err)
				for i, page := range pages.Pages {
					if i%2 == 1 && i+1 < len(pages.Pages) { // the first, the last, and every other one
						continue
					}
					of := fmt.Sprintf("seed %d: page %d of version %d", seed, page.Number, version)
					require.Equal(t, total(reader.Filter{LeadMagnetID: &magnet, MagnetVersion: &version, Reached: page.Number}),
						page.PeopleReached, of)
					require.Equal(t, total(reader.Filter{LeadMagnetID: &magnet, MagnetVersion: &version, StoppedAt: page.Number}),
						page.PeopleStopped, of)
				}
			}
		}
	}
}
