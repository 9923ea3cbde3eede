package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/crud/catalogue"
	"lodestone/pkg/chart"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/locale"
)

// reported is the API's answer to a question.
type reported struct {
	Rows         []map[string]any `json:"rows"`
	Totals       map[string]any   `json:"totals"`
	ExcludedBots float64          `json:"excluded_bots"`
}

// ask asks the API a question, and returns the answer.
func (v *owner) ask(question string) (a reported) {
	v.t.Helper()
	var all struct{ Data []reported }
	v.call(http.MethodPost, "/api/v1/analytics/query", question, &all)
	return all.Data[0]
}

// call calls the API with the key of the account.
func (v *owner) call(method, path, body string, into any) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.site+path, strings.NewReader(body))
	require.NoError(v.t, err)
	req.Header.Set("Authorization", "Bearer "+v.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := v.http.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	require.Less(v.t, res.StatusCode, 300, "%s", text)
	require.NoError(v.t, json.Unmarshal(text, into), "%s", text)
}

// exact is a number as screens write it.
func exact(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// column is a metric of the rows of an answer, as screens write it.
func (a reported) column(metric string) (list []string) {
	for _, r := range a.Rows {
		list = append(list, exact(r[metric]))
	}
	return list
}

// Every number of the dashboard is the one that the API answers.
func TestDashboardShowsWhatTheAPIAnswers(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	past := launch(t, u.dir, nil, "demo", "--days", "20", "--seed", "3")
	require.Zero(t, past.wait(), "%s", past.out)
	v := signIn(t, u)
	for _, days := range []int{7, 30} {
		v.overview(t, days)
		v.magnets(t, days)
		v.readers(t, days)
	}
	v.definitions(t)
	v.reader(t)
	v.live(t)
	v.links(t)
	v.weekly(t, u)
	u.interrupt(enginetest.Timeout)
}

// A metric means the same in English screens and in the API.
func (v *owner) definitions(t *testing.T) {
	t.Helper()
	var schema struct {
		Metrics []struct{ Name, Description string }
	}
	v.call(http.MethodGet, "/api/v1/analytics/schema", "", &schema)
	texts, err := catalogue.Dashboard()
	require.NoError(t, err)
	require.NotEmpty(t, schema.Metrics)
	for _, m := range schema.Metrics {
		require.Equal(t, m.Description, texts.In(locale.English).Say("metric."+m.Name+".means"), m.Name)
	}
}

// bounds are the days of a period, as questions have them.
func bounds(days int) string {
	today := time.Now().UTC()
	return fmt.Sprintf(`"from":"%s","to":"%s"`, today.AddDate(0, 0, 1-days).Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly))
}

const tileMetrics = `"metrics":["visitors","submissions","submission_rate","verified","readers","finished","finish_rate","downloads","download_rate"],"interval":"day",`

func (v *owner) overview(t *testing.T, days int) {
	t.Helper()
	s := v.open(fmt.Sprintf("/dashboard?days=%d", days))
	require.Equal(t, http.StatusOK, s.status)
	total := v.ask("{" + tileMetrics + bounds(days) + "}")
	s.requireTiles(total)
	require.Equal(t, total.column("readers"), shown(s.find("figure", "chart")[0], "readers"), "the table behind the chart")

	magnets := v.ask(`{"metrics":["readers","link_views","submissions","finish_rate","downloads"],"dimensions":["lead_magnet_id"],` + bounds(days) + `}`)
	list := s.find("table", "magnets")[0]
	for _, metric := range []string{"link_views", "submissions", "downloads", "finish_rate", "readers"} {
		want := magnets.column(metric)
		require.Equal(t, want, shown(list, metric)[:len(want)], metric)
	}
}

// requireTiles compares the numbers at the top of a screen, and the table behind them.
func (s screen) requireTiles(want reported) {
	s.t.Helper()
	tiles := s.find("section", "tiles")
	require.Len(s.t, tiles, 1)
	for metric, n := range want.Totals {
		require.Equal(s.t, []string{exact(n)}, shown(tiles[0], metric), metric)
	}
	require.NotZero(s.t, want.Totals["readers"])
	require.Equal(s.t, []string{exact(want.ExcludedBots)}, shown(s.root, "excluded_bots"))
	require.Equal(s.t, want.column("readers"), shown(s.find("table", "")[0], "readers"), "the table behind the tiles")
}

func (v *owner) magnets(t *testing.T, days int) {
	t.Helper()
	var list struct{ Data []struct{ ID, Title string } }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &list)
	checked := 0
	for _, m := range list.Data {
		only := fmt.Sprintf(`"filters":{"lead_magnet_id":["%s"]},`, m.ID) + bounds(days)
		total := v.ask("{" + tileMetrics + only + "}")
		if total.Totals["readers"] == 0.0 {
			continue
		}
		checked++
		s := v.open(fmt.Sprintf("/dashboard/magnets/%s?days=%d", m.ID, days))
		require.Equal(t, http.StatusOK, s.status)
		s.requireTiles(total)
		figures := s.find("figure", "chart")

		today := time.Now().UTC().Truncate(24 * time.Hour)
		query := url.Values{"lead_magnet_id": {m.ID}, "from": {today.AddDate(0, 0, 1-days).Format(time.RFC3339)}, "to": {today.AddDate(0, 0, 1).Format(time.RFC3339)}}.Encode()
		var funnel struct {
			Data []struct {
				Step  string
				Count float64
			}
		}
		v.call(http.MethodGet, "/api/v1/analytics/funnel?"+query, "", &funnel)
		require.Len(t, funnel.Data, 6)
		for _, step := range funnel.Data {
			require.Equal(t, []string{exact(step.Count)}, shown(figures[0], step.Step), step.Step)
		}
		var pages struct {
			Data []struct {
				Reached, Stopped float64
				Median           *float64 `json:"median_ms"`
			}
		}
		v.call(http.MethodGet, "/api/v1/analytics/pages?"+query, "", &pages)
		var reached, stopped, median []string
		for _, p := range pages.Data {
			reached, stopped, median = append(reached, exact(p.Reached)), append(stopped, exact(p.Stopped)), append(median, exact(p.Median))
		}
		require.Equal(t, reached, shown(figures[1], "reached"))
		require.Equal(t, stopped, shown(figures[1], "stopped"))
		require.Equal(t, median, shown(figures[1], "median_page_ms"))

		var people struct{ Pagination struct{ Total float64 } }
		v.call(http.MethodGet, "/api/v1/analytics/readers?finished=false&"+query, "", &people)
		step := v.open("/dashboard/readers?finished=false&lead_magnet_id=" + m.ID + fmt.Sprintf("&days=%d", days))
		require.NotEmpty(t, s.linkTo("/dashboard/readers?", "finished=false", m.ID), "a step leads to the people who stopped there")
		require.Equal(t, []string{exact(people.Pagination.Total)}, shown(step.find("h1", "")[0], "people"))
		require.Contains(t, step.text, html.EscapeString(m.Title))

		devices := v.ask(`{"metrics":["readers","finish_rate","median_page_ms"],"dimensions":["device"],"limit":10,` + only + `}`)
		tables := s.find("table", "")
		found := false
		for _, table := range tables {
			if strings.HasPrefix(strings.TrimSpace(textOf(table)), "Device") {
				found = true
				for _, metric := range []string{"readers", "finish_rate", "median_page_ms"} {
					require.Equal(t, devices.column(metric), shown(table, metric), metric)
				}
			}
		}
		require.True(t, found)
	}
	require.NotZero(t, checked)
}

// readerRow is a person of the API's list.
type readerRow struct {
	Email       string
	AccessLinks []string `json:"access_links"`
	Sessions    float64
	Pages       float64
	ReadingMS   float64 `json:"reading_ms"`
	Downloads   float64
	Score       float64
}

func (v *owner) readers(t *testing.T, days int) {
	t.Helper()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	query := url.Values{"from": {today.AddDate(0, 0, 1-days).Format(time.RFC3339)}, "to": {today.AddDate(0, 0, 1).Format(time.RFC3339)}, "sort": {"-score"}, "finished": {"true"}, "per_page": {"50"}}
	var list struct {
		Data       []readerRow
		Pagination struct{ Total float64 }
	}
	v.call(http.MethodGet, "/api/v1/analytics/readers?"+query.Encode(), "", &list)
	s := v.open(fmt.Sprintf("/dashboard/readers?days=%d&sort=-score&finished=true", days))
	require.Equal(t, []string{exact(list.Pagination.Total)}, shown(s.find("h1", "")[0], "people"))
	var score, reading []string
	for _, r := range list.Data {
		score, reading = append(score, exact(r.Score)), append(reading, exact(r.ReadingMS))
		require.Contains(t, s.text, r.Email)
	}
	table := s.find("table", "people")[0]
	require.Equal(t, score, shown(table, "score"))
	require.Equal(t, reading, shown(table, "reading_ms"))
}

func (v *owner) reader(t *testing.T) {
	t.Helper()
	var list struct{ Data []readerRow }
	v.call(http.MethodGet, "/api/v1/analytics/readers?sort=-score&per_page=3", "", &list)
	for _, r := range list.Data {
		id := r.AccessLinks[0]
		s := v.open("/dashboard/readers/" + id)
		require.Equal(t, http.StatusOK, s.status)
		var story struct {
			Totals   readerRow
			Sessions []struct{ Visits []struct{ Start time.Time } }
		}
		v.call(http.MethodGet, "/api/v1/analytics/readers/"+id, "", &story)
		require.Equal(t, []string{exact(story.Totals.Score)}, shown(s.root, "score"))
		require.Equal(t, []string{exact(story.Totals.Sessions)}, shown(s.root, "sessions"))
		require.Equal(t, []string{exact(story.Totals.Downloads)}, shown(s.root, "downloads"))
		var after []string
		drawn := 0
		for _, one := range story.Sessions {
			if len(one.Visits) > 0 {
				drawn++
			}
			for _, visit := range one.Visits {
				after = append(after, chart.Time(float64(visit.Start.Sub(one.Visits[0].Start).Milliseconds())))
			}
		}
		strips := s.find("figure", "chart")
		require.Len(t, strips, drawn, "a strip for each session")
		var begun []string
		for _, strip := range strips {
			for _, n := range (screen{t: t, root: strip}).find("th", "") {
				if attr(n, "scope") == "row" {
					begun = append(begun, textOf(n))
				}
			}
		}
		require.Equal(t, after, begun, "when each page was opened")
	}
}

func (v *owner) live(t *testing.T) {
	t.Helper()
	var now struct{ Readers float64 }
	v.call(http.MethodGet, "/api/v1/analytics/now", "", &now)
	require.Equal(t, []string{exact(now.Readers)}, shown(v.open("/dashboard/live").root, "readers_now"))
}
