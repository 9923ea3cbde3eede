package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/crud/web"
	"lodestone/pkg/chart"
	"lodestone/pkg/locale"
	"lodestone/pkg/test/enginetest"
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
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimPrefix(string(text), "null")
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
	today := utcDay()
	v.overview(t, lastDays(100, today)) // by weeks
	for _, p := range []span{
		lastDays(30, today),
		{fmt.Sprintf("from=%s&to=%s&compare=no", today.AddDate(0, 0, -12).Format(time.DateOnly),
			today.AddDate(0, 0, -4).Format(time.DateOnly)), today.AddDate(0, 0, -12), today.AddDate(0, 0, -4)},
	} {
		v.overview(t, p)
		v.magnets(t, p)
		v.readers(t, p)
		v.links(t, p)
	}
	v.filters(t, lastDays(30, today))
	for _, n := range []int{7, 30} {
		s, today := v.openToday(fmt.Sprintf("/dashboard?days=%d", n))
		s.requireTop(v.ask("{" + allMetrics + lastDays(n, today).bounds() + "}"))
	}
	s := v.open("/dashboard/readers")
	for _, o := range s.find("option", "") {
		chosen := v.open("/dashboard/readers?" + url.Values{attr(o.Parent, "name"): {attr(o, "value")}}.Encode())
		require.Equal(t, http.StatusOK, chosen.status, "%s: the API takes every choice of the screen", chosen.path)
	}
	v.sharedNumbers(t)
	v.landingNumbers(t)
	v.planted(t, u)
	v.usage(t)
	v.definitions(t)
	v.reader(t)
	v.live(t)
	v.weekly(t, u)
	v.alerts(t, u)
	u.interrupt(enginetest.Timeout)
}

// A metric means the same in English screens and in the API.
func (v *owner) definitions(t *testing.T) {
	t.Helper()
	var schema struct {
		Metrics []struct{ Name, Description string }
	}
	v.call(http.MethodGet, "/api/v1/analytics/schema", "", &schema)
	texts, err := web.DashboardTexts()
	require.NoError(t, err)
	require.NotEmpty(t, schema.Metrics)
	for _, m := range schema.Metrics {
		require.Equal(t, m.Description, texts.In(locale.English).Say("metric."+m.Name+".means"), m.Name)
	}
}

// span is a period, as the address of a screen has it, with its first and last day.
type span struct {
	query       string
	first, last time.Time
}

// lastDays are so many days up to one, by their dates: the day may end while screens are compared
// with answers.
func lastDays(n int, last time.Time) span {
	first := last.AddDate(0, 0, 1-n)
	return span{fmt.Sprintf("from=%s&to=%s", first.Format(time.DateOnly), last.Format(time.DateOnly)), first, last}
}

// days is how many days it has.
func (p span) days() int { return 1 + int(p.last.Sub(p.first)/(24*time.Hour)) }

func utcDay() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

// openToday opens a screen of the last days, and returns the day on which it did.
func (v *owner) openToday(path string) (s screen, today time.Time) {
	v.t.Helper()
	for {
		today = utcDay()
		s = v.open(path)
		if utcDay().Equal(today) {
			return s, today
		}
	}
}

// bounds are its days, as questions have them.
func (p span) bounds() string {
	interval := "day"
	if p.days() > 93 {
		interval = "week"
	}
	return fmt.Sprintf(`"from":"%s","to":"%s","interval":"%s"`, p.first.Format(time.DateOnly),
		p.last.AddDate(0, 0, 1).Format(time.DateOnly), interval)
}

// whole are its days without intervals.
func (p span) whole() string {
	bounds, _, _ := strings.Cut(p.bounds(), `,"interval"`)
	return bounds
}

// times are its days, as reports have them.
func (p span) times(more url.Values) string {
	more.Set("from", p.first.Format(time.RFC3339))
	more.Set("to", p.last.AddDate(0, 0, 1).Format(time.RFC3339))
	return more.Encode()
}

const allMetrics = `"metrics":["visitors","submissions","submission_rate","verified","confirmations","people","people_without_form","people_finished","people_finish_rate",` +
	`"people_downloaded","people_download_rate","page_views","reading_ms","median_page_ms"],`

// tileRates are the rates beside the numbers at the top of the overview and of a lead magnet.
var tileRates = []string{"submission_rate", "people_finish_rate", "people_download_rate"}

// tileMetrics are these numbers. Confirmed addresses are shown only where addresses are confirmed.
func (a reported) tileMetrics() []string {
	second := "reading_ms"
	if a.Totals["confirmations"] != 0.0 || a.Totals["verified"].(float64) < a.Totals["submissions"].(float64) {
		second = "verified"
	}
	return []string{"visitors", "submissions", second, "people", "people_finished", "people_downloaded"}
}

func (v *owner) overview(t *testing.T, p span) {
	t.Helper()
	total := v.ask("{" + allMetrics + p.bounds() + "}")
	for chosen, drawn := range map[string][]string{
		"": {"people", "people_finished"}, "&metric=visitors&second=submission_rate": {"visitors", "submission_rate"},
		"&metric=reading_ms&second=median_page_ms":               {"reading_ms", "median_page_ms"},
		"&metric=page_views&second=none":                         {"page_views"},
		"&metric=people_download_rate&second=people_finish_rate": {"people_download_rate", "people_finish_rate"},
	} {
		if chosen != "" && p.days() != 30 {
			continue // once each
		}
		s, now := v.openNow("/dashboard?" + p.query + chosen)
		require.Equal(t, http.StatusOK, s.status)
		s.requireTop(total)
		for _, metric := range drawn {
			var found []string
			for _, figure := range s.find("figure", "chart") {
				found = append(found, shown(figure, metric)...)
			}
			require.Equal(t, total.column(metric), found, "the table behind the chart of %s", metric)
		}
		v.magnetList(t, s, p)
		if chosen == "" {
			v.sortedMagnets(t, p)
		}
		require.Equal(t, []string{exact(now.Readers)}, shown(s.root, "readers_now"))
		v.changes(t, s, p, total)
		s.requireAllCompared()
	}
}

// presence is who reads now.
type presence struct {
	Readers      float64
	ExcludedBots float64 `json:"excluded_bots"`
}

// openNow opens a screen, and returns who reads now: no one has left between a question before it
// and one after it.
func (v *owner) openNow(path string) (s screen, now presence) {
	v.t.Helper()
	for before := (presence{Readers: -1}); now != before; {
		v.call(http.MethodGet, "/api/v1/analytics/now", "", &before)
		s = v.open(path)
		v.call(http.MethodGet, "/api/v1/analytics/now", "", &now)
	}
	return s, now
}

// magnetList compares the list of lead magnets. Those without a number are last.
func (v *owner) magnetList(t *testing.T, s screen, p span) {
	t.Helper()
	magnets := v.ask(`{"metrics":["people","visitors","submissions","people_finish_rate","people_downloaded"],"dimensions":["lead_magnet_id"],` + p.whole() + `}`)
	list := s.find("table", "magnets")[0]
	for metric, none := range map[string]string{"visitors": "0", "submissions": "0", "people_downloaded": "0",
		"people_finish_rate": "", "people": "0"} {
		want := magnets.column(metric)
		got := shown(list, metric)
		require.GreaterOrEqual(t, len(got), len(want))
		for i, n := range got {
			if i < len(want) {
				require.Equal(t, want[i], n, metric)
			} else {
				require.Equal(t, none, n, metric)
			}
		}
	}
}

// sortedMagnets compares the order of the list of lead magnets, which the address can name.
func (v *owner) sortedMagnets(t *testing.T, p span) {
	t.Helper()
	for _, metric := range []string{"visitors", "submissions", "people", "people_downloaded"} {
		magnets := v.ask(`{"metrics":["` + metric + `"],"dimensions":["lead_magnet_id"],"order_by":"-` +
			metric + `",` + p.whole() + `}`)
		list := v.open("/dashboard?"+p.query+"&sort="+metric).find("table", "magnets")[0]
		want := magnets.column(metric)
		require.NotEmpty(t, want)
		require.Equal(t, want, shown(list, metric)[:len(want)], metric)
		s := screen{t: t, root: list}
		parts := slices.DeleteFunc(strings.Split(p.query, "&"), func(part string) bool { return part == "" })
		require.NotEmpty(t, s.linkTo(append(parts, "sort="+metric)...), "the head orders the list and keeps the period")
	}
}

// changes compares the numbers in the sentences about what changed: they are totals, or of a
// source.
func (v *owner) changes(t *testing.T, s screen, p span, total reported) {
	t.Helper()
	sources := v.ask(`{"metrics":["people","submissions","people_finished","people_finish_rate"],"dimensions":["utm_source"],"limit":20,` + p.whole() + `}`)
	for _, list := range s.find("p", "says") {
		for _, metric := range slices.Concat(total.tileMetrics(), tileRates) {
			for _, n := range shown(list, metric) {
				require.Contains(t, append(sources.column(metric), exact(total.Totals[metric])), n, metric)
			}
		}
	}
}

// requireTop compares the numbers at the top of a screen, the table behind them, and the sentence
// above.
func (s screen) requireTop(want reported) {
	s.t.Helper()
	tiles := s.find("section", "tiles")
	require.Len(s.t, tiles, 1)
	for _, metric := range slices.Concat(want.tileMetrics(), tileRates) {
		require.Equal(s.t, []string{exact(want.Totals[metric])}, shown(tiles[0], metric), metric)
	}
	require.NotZero(s.t, want.Totals["people"])
	require.Equal(s.t, []string{exact(want.ExcludedBots)}, shown(s.root, "excluded_bots"))
	for _, metric := range want.tileMetrics() {
		require.Equal(s.t, want.column(metric), shown(s.byID("numbers"), metric), "the table behind the tiles: %s", metric)
	}
	s.requireOnly(s.find("h1", "")[0], want.Totals)
}

// requireOnly compares all numbers below a node with a row: each metric has one value there.
func (s screen) requireOnly(n *html.Node, row map[string]any) {
	s.t.Helper()
	for metric, want := range row {
		for _, got := range shown(n, metric) {
			require.Equal(s.t, exact(want), got, metric)
		}
	}
}

// table returns the table whose head begins with a word, nil if there is none.
func (s screen) table(head string) *html.Node {
	for _, table := range s.find("table", "") {
		for h := range table.Descendants() {
			if h.Data == "th" {
				if strings.TrimSpace(textOf(h)) == head {
					return table
				}
				break
			}
		}
	}
	return nil
}

// requireRows compares the columns of a table with the rows of an answer.
func (s screen) requireRows(table *html.Node, want reported, metrics ...string) {
	s.t.Helper()
	require.NotNil(s.t, table)
	for _, metric := range metrics {
		require.Equal(s.t, want.column(metric), shown(table, metric), metric)
	}
}

func (v *owner) magnets(t *testing.T, p span) {
	t.Helper()
	var list struct{ Data []struct{ ID, Title string } }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &list)
	checked := 0
	for _, m := range list.Data {
		only := fmt.Sprintf(`"filters":{"lead_magnet_id":["%s"]},`, m.ID)
		total := v.ask("{" + allMetrics + only + p.bounds() + "}")
		if total.Totals["people"] == 0.0 {
			continue
		}
		checked++
		v.magnet(t, p, m.ID, "", total)
		if p.days() != 30 {
			break // all of them, and the lists below, are asked for in one period
		}
		if checked > 1 {
			continue // and the lists of one
		}
		v.magnet(t, p, m.ID, "1", total)
		v.open("/dashboard/magnets/" + m.ID + "?" + p.query).requireListsWhomItCounts(v)
		query := p.times(url.Values{"lead_magnet_id": {m.ID}})
		for _, only := range []string{"finished=false", "downloaded=true", "from_form=false", "reached=2",
			"stopped_at=2&magnet_version=1", "utm_source=newsletter", "without=utm_source",
			"device=mobile", "magnet_version=1"} {
			var people struct{ Pagination struct{ Total float64 } }
			v.call(http.MethodGet, "/api/v1/analytics/readers?"+only+"&"+query, "", &people)
			step := v.open("/dashboard/readers?" + only + "&lead_magnet_id=" + m.ID + "&" + p.query)
			require.Equal(t, []string{exact(people.Pagination.Total)}, shown(step.find("h1", "")[0], "people"), only)
			if people.Pagination.Total > 0 {
				require.Contains(t, step.text, html.EscapeString(m.Title))
			}
		}
	}
	require.NotZero(t, checked)
}

// magnet compares the screen of a lead magnet, with the pages of a version or of the newest one.
func (v *owner) magnet(t *testing.T, p span, id, version string, total reported) {
	t.Helper()
	address, more := "/dashboard/magnets/"+id+"?"+p.query, url.Values{"lead_magnet_id": {id}}
	if version != "" {
		address += "&version=" + version
	}
	s := v.open(address)
	require.Equal(t, http.StatusOK, s.status)
	s.requireTop(total)
	require.NotEmpty(t, s.linkTo("/dashboard/readers?", "finished=false", id),
		"a step leads to the people who stopped there")
	tiles := screen{t: t, root: s.find("section", "tiles")[0]}
	require.NotEmpty(t, tiles.linkTo("/dashboard/links?", "lead_magnet_id="+id),
		"forms lead to the landing pages that have them")
	for _, of := range []string{"generic_link_id=", "utm_source=", "utm_campaign", "without=utm_source", "device=",
		"magnet_version="} {
		require.NotEmpty(t, s.linkTo("/dashboard/readers?", of, id), "a row leads to its readers")
	}
	figures := s.find("figure", "chart")
	for _, metric := range total.tileMetrics() {
		if metric != "reading_ms" {
			require.Equal(t, []string{exact(total.Totals[metric])}, shown(figures[0], metric),
				"the funnel says what the tiles say: %s", metric)
		}
	}
	if total.Totals["people_without_form"] != 0.0 {
		require.Equal(t, []string{exact(total.Totals["people_without_form"])}, shown(s.root, "people_without_form"))
	}
	if version != "" {
		more.Set("magnet_version", version)
	}
	var pages struct {
		Data []struct {
			Reached float64  `json:"people_reached"`
			Stopped float64  `json:"people_stopped"`
			Median  *float64 `json:"median_ms"`
		}
	}
	v.call(http.MethodGet, "/api/v1/analytics/pages?"+p.times(more), "", &pages)
	var reached, stopped, median []string
	for _, row := range pages.Data {
		reached, stopped, median = append(reached, exact(row.Reached)), append(stopped, exact(row.Stopped)),
			append(median, exact(row.Median))
	}
	course := 1
	if len(pages.Data) > 0 {
		require.Equal(t, reached, shown(figures[1], "people_reached"))
		require.Equal(t, stopped, shown(figures[1], "people_stopped"))
		require.Equal(t, median, shown(figures[1], "median_page_ms"))
		course = 2
	}
	require.Equal(t, total.column("people"), shown(figures[course], "people"), "readers over time")

	only := fmt.Sprintf(`"filters":{"lead_magnet_id":["%s"]},`, id) + p.whole()
	for head, by := range map[string]struct {
		dimension string
		metrics   []string
	}{
		"Source":       {"utm_source", []string{"people", "submissions", "people_finish_rate"}},
		"Campaign":     {"utm_campaign", []string{"people", "submissions", "people_finish_rate"}},
		"Landing page": {"generic_link_id", []string{"people", "submissions", "people_finish_rate"}},
		"Device":       {"device", []string{"people", "people_finish_rate", "median_page_ms"}},
		"Version":      {"magnet_version", []string{"people", "people_finish_rate", "median_page_ms"}},
	} {
		rows := v.ask(`{"metrics":["` + strings.Join(by.metrics, `","`) + `"],"dimensions":["` + by.dimension +
			`"],"limit":10,` + only + `}`)
		table := s.table(head)
		require.NotNil(t, table, head)
		s.requireRows(table, rows, by.metrics...)
	}
	hours := v.ask(`{"metrics":["page_views"],"dimensions":["weekday","hour_of_day"],"limit":168,` + only + `}`)
	want := slices.Repeat([]string{"0"}, 7*24)
	for _, r := range hours.Rows {
		want[(int(r["weekday"].(float64))-1)*24+int(r["hour_of_day"].(float64))] = exact(r["page_views"])
	}
	require.Equal(t, want, shown(s.root, "page_views"), "by weekday and hour")
	s.requireAllCompared()
}

// requireListsWhomItCounts follows the link of each number of people on a screen of a lead magnet:
// its list has as many.
func (s screen) requireListsWhomItCounts(v *owner) {
	s.t.Helper()
	counted := map[string]string{} // numbers by the addresses of their lists
	for n := range s.root.Descendants() {
		metric := attr(n, "data-metric")
		if !strings.HasPrefix(metric, "people") || strings.HasSuffix(metric, "_rate") {
			continue
		}
		link := n.Parent // of a tile
		for child := range n.Descendants() {
			if child.Data == "a" { // of a cell of a table
				link = child
			}
		}
		if link.Data == "td" { // of a row that leads to its readers
			for child := range link.Parent.FirstChild.Descendants() {
				if child.Data == "a" {
					link = child
				}
			}
		}
		if link.Data == "a" {
			counted[attr(link, "href")] = attr(n, "data-value")
		}
	}
	for _, filter := range []string{"finished=true", "downloaded=true", "reached=1", "stopped_at=1"} {
		require.NotEmpty(s.t, s.linkTo("/dashboard/readers?", filter))
	}
	for address, want := range counted {
		require.Equal(s.t, []string{want}, shown(v.open(address).find("h1", "")[0], "people"), address)
	}
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

func (v *owner) readers(t *testing.T, p span) {
	t.Helper()
	for _, filter := range []url.Values{{"sort": {"-score"}, "finished": {"true"}},
		{"sort": {"-reading_ms"}, "finished": {"false"}}, {"sort": {"-downloads"}, "min_pages": {"5"}}, {"q": {"a"}}, {}} {
		address := "/dashboard/readers?" + p.query + "&" + filter.Encode()
		filter.Set("per_page", "50")
		var list struct {
			Data         []readerRow
			Pagination   struct{ Total float64 }
			ExcludedBots float64 `json:"excluded_bots"`
		}
		v.call(http.MethodGet, "/api/v1/analytics/readers?"+p.times(filter), "", &list)
		s := v.open(address)
		require.Equal(t, []string{exact(list.Pagination.Total)}, shown(s.find("h1", "")[0], "people"))
		require.Equal(t, []string{exact(list.ExcludedBots)}, shown(s.root, "excluded_bots"))
		if len(list.Data) > 0 {
			table := s.find("table", "people")[0]
			for metric, of := range readerMetrics {
				var want []string
				for _, r := range list.Data {
					want = append(want, exact(of(r)))
					require.Contains(t, s.text, html.EscapeString(r.Email))
				}
				require.Equal(t, want, shown(table, metric), "%s of %s", metric, address)
			}
		}
		s.requireAllCompared()
	}
}

// readerMetrics are the numbers of a person.
var readerMetrics = map[string]func(readerRow) float64{
	"sessions": func(r readerRow) float64 { return r.Sessions }, "pages": func(r readerRow) float64 { return r.Pages },
	"reading_ms": func(r readerRow) float64 { return r.ReadingMS },
	"downloads":  func(r readerRow) float64 { return r.Downloads }, "score": func(r readerRow) float64 { return r.Score },
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
			Totals       readerRow
			ExcludedBots float64 `json:"excluded_bots"`
			Sessions     []struct{ Visits []struct{ Start time.Time } }
		}
		v.call(http.MethodGet, "/api/v1/analytics/readers/"+id, "", &story)
		for metric, of := range readerMetrics {
			found := shown(s.root, metric)
			require.NotEmpty(t, found, metric)
			for _, n := range found { // in the list, and some in the sentence above
				require.Equal(t, exact(of(story.Totals)), n, metric)
			}
		}
		require.Equal(t, []string{exact(story.ExcludedBots)}, shown(s.root, "excluded_bots"))
		s.requireAllCompared()
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
	s, now := v.openNow("/dashboard/live")
	require.Equal(t, []string{exact(now.Readers)}, shown(s.root, "readers_now"))
	require.Equal(t, []string{exact(now.ExcludedBots)}, shown(s.root, "excluded_bots"))
	s.requireAllCompared()
}

// usage compares what is used of the limits.
func (v *owner) usage(t *testing.T) {
	t.Helper()
	var account struct{ Usage map[string]float64 }
	v.call(http.MethodGet, "/api/v1/account", "", &account)
	s := v.open(settings + "/usage")
	for metric, n := range account.Usage {
		require.Equal(t, []string{exact(n)}, shown(s.root, metric), metric)
	}
	s.requireAllCompared()
}

// sharedNumbers compares the page that shares the statistics of a lead magnet, for each of its
// periods.
func (v *owner) sharedNumbers(t *testing.T) {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &list)
	stranger := &owner{t: t, site: v.site, key: v.key, http: &http.Client{Timeout: time.Minute}}
	compared := 0
	for _, m := range list.Data {
		var share struct{ URL string }
		v.call(http.MethodPost, "/api/v1/lead-magnets/"+m.ID+"/shares", "{}", &share)
		path := strings.TrimPrefix(share.URL, v.site)
		for _, a := range stranger.open(path).find("a", "") {
			_, days, found := strings.Cut(attr(a, "href"), "days=")
			n, err := strconv.Atoi(days)
			if !found || err != nil {
				continue
			}
			s, today := stranger.openToday(path + "?days=" + days)
			require.Equal(t, http.StatusOK, s.status)
			p := lastDays(n, today)
			total := v.ask(`{` + allMetrics + `"filters":{"lead_magnet_id":["` + m.ID + `"]},` + p.bounds() + `}`)
			s.requireOnly(s.find("dl", "tiles")[0], total.Totals)
			figures := s.find("figure", "chart")
			query := p.times(url.Values{"lead_magnet_id": {m.ID}})
			s.requireOnly(figures[0], total.Totals)
			for _, metric := range []string{"visitors", "submissions", "people", "people_finished", "people_downloaded"} {
				require.Equal(t, []string{exact(total.Totals[metric])}, shown(figures[0], metric), metric)
			}
			require.Equal(t, total.column("people"), shown(figures[1], "people"))
			if len(figures) > 2 {
				var pages struct {
					Data []struct {
						Reached float64  `json:"people_reached"`
						Stopped float64  `json:"people_stopped"`
						Median  *float64 `json:"median_ms"`
					}
				}
				v.call(http.MethodGet, "/api/v1/analytics/pages?"+query, "", &pages)
				var reached, stopped, median []string
				for _, row := range pages.Data {
					reached, stopped, median = append(reached, exact(row.Reached)), append(stopped, exact(row.Stopped)),
						append(median, exact(row.Median))
				}
				require.Equal(t, reached, shown(figures[2], "people_reached"))
				require.Equal(t, stopped, shown(figures[2], "people_stopped"))
				require.Equal(t, median, shown(figures[2], "median_page_ms"))
			}
			s.requireAllCompared()
			if compared++; m.ID != list.Data[0].ID {
				break // each period once
			}
		}
	}
	require.NotZero(t, compared)
}

// landingNumbers compares what landing pages say about their readers: how many there were, and how
// many of them came to the end.
func (v *owner) landingNumbers(t *testing.T) {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &list)
	compared := 0
	for _, m := range list.Data {
		var link struct{ URL string }
		v.call(http.MethodPost, "/api/v1/generic-links", `{"lead_magnet_id":"`+m.ID+`","show_readers":true,"language":"en"}`,
			&link)
		page, today := v.openToday(strings.TrimPrefix(link.URL, v.site))
		for _, li := range page.find("li", "") {
			for words, filter := range map[string]url.Values{"Read by ": {}, " finished it": {"finished": {"true"}}} {
				text := textOf(li)
				if !strings.HasPrefix(text, words) && !strings.HasSuffix(text, words) {
					continue
				}
				filter.Set("lead_magnet_id", m.ID)
				var people struct{ Pagination struct{ Total float64 } }
				v.call(http.MethodGet, "/api/v1/analytics/readers?"+lastDays(365, today).times(filter), "", &people)
				require.Contains(t, text, chart.Count(people.Pagination.Total), "of %s", m.ID)
				compared++
			}
		}
	}
	require.NotZero(t, compared)
}
