package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/chart"
	"lodestone/pkg/locale"
)

// A funnel has the numbers of its row, no rate above 100 %, and says why a rate is missing.
func TestFunnel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row   Row
		steps string // each as metric, count and rate
		want  Funnel
	}{
		"without confirmation": {
			Row{"visitors": 10.0, "submissions": 5.0, "submission_rate": 0.5, "verified": 5.0, "confirmations": 0.0,
				"people": 4.0, "people_without_form": 0.0,
				"people_finished": 1.0, "people_finish_rate": 0.25, "people_downloaded": 2.0, "people_download_rate": 0.5},
			"visitors 10 –, submissions 5 50 %, people 4 80 %, people_finished 1 25 %, people_downloaded 2 50 %", Funnel{},
		},
		"with confirmation, and people of the API": {
			Row{"visitors": 10.0, "submissions": 8.0, "submission_rate": 0.8, "verified": 4.0, "confirmations": 4.0,
				"people": 6.0, "people_without_form": 2.0,
				"people_finished": 3.0, "people_finish_rate": 0.5, "people_downloaded": 0.0, "people_download_rate": 0.0},
			"visitors 10 –, submissions 8 80 %, verified 4 50 %, people 6 100 %, people_finished 3 50 %, people_downloaded 0 0 %", Funnel{WithoutForm: 2},
		},
		"not confirmed yet": {
			Row{"visitors": 2.0, "submissions": 2.0, "submission_rate": 1.0, "verified": 1.0, "confirmations": 0.0,
				"people": 0.0, "people_without_form": 0.0,
				"people_finished": 0.0, "people_downloaded": 0.0},
			"visitors 2 –, submissions 2 100 %, verified 1 50 %, people 0 0 %, people_finished 0 –, people_downloaded 0 –",
			Funnel{},
		},
		"more forms than visitors, and more people than forms": {
			Row{"visitors": 19.0, "submissions": 29.0, "submission_rate": 29.0 / 19, "verified": 29.0, "confirmations": 0.0,
				"people": 40.0, "people_without_form": 1.0,
				"people_finished": 40.0, "people_finish_rate": 1.0, "people_downloaded": 1.0, "people_download_rate": 0.025},
			"visitors 19 –, submissions 29 –, people 40 –, people_finished 40 100 %, people_downloaded 1 2.5 %",
			Funnel{WithoutForm: 1, MoreForms: true, MorePeople: true},
		},
		"forms without visitors": {
			Row{"visitors": 0.0, "submissions": 1.0, "verified": 1.0, "confirmations": 0.0,
				"people": 1.0, "people_without_form": 0.0,
				"people_finished": 0.0, "people_finish_rate": 0.0, "people_downloaded": 0.0, "people_download_rate": 0.0},
			"visitors 0 –, submissions 1 –, people 1 100 %, people_finished 0 0 %, people_downloaded 0 0 %",
			Funnel{MoreForms: true},
		},
	} {
		got := FunnelOf(c.row, func(metric string) string { return metric })
		var words []string
		for _, s := range got.Steps {
			words = append(words, s.Name+" "+chart.Count(s.Count)+" "+chart.Share(s.Rate))
		}
		require.Equal(t, c.steps, strings.Join(words, ", "), name)
		got.Steps = nil
		require.Equal(t, c.want, got, name)
	}
}

// A rate above 100 % is not shown as one, and neither is its change; its exact value stays for
// programs.
func TestRateAboveAll(t *testing.T) {
	t.Parallel()
	all, err := web.DashboardTexts()
	require.NoError(t, err)
	f := FigureOf(Row{"submission_rate": 1.53, "previous": map[string]any{"submission_rate": 0.4}}, "submission_rate")
	f.texts = all.In(locale.English)
	require.Equal(t, []string{"–", "more forms than counted visitors", "1.53", ""},
		[]string{f.Text(), f.Why(), f.Exact(), f.Change()})
	none := FigureOf(Row{"submissions": 2.0, "visitors": 0.0}, "submission_rate")
	none.texts = f.texts
	require.Equal(t, []string{"–", "more forms than counted visitors", ""},
		[]string{none.Text(), none.Why(), none.Exact()})
	f.Value, f.Before = 0.4, 1.53
	require.Equal(t, []string{"40 %", "", ""}, []string{f.Text(), f.Why(), f.Change()})
	now, before := Answer{Rows: []Row{{"submission_rate": 1.2},
		{"submission_rate": 0.5, "previous": map[string]any{"submission_rate": 2.0}}}}.Series("submission_rate")
	require.Equal(t, []string{"–", "50 %", "–", "–"}, []string{chart.Share(now[0]), chart.Share(now[1]),
		chart.Share(before[0]), chart.Share(before[1])})
}
