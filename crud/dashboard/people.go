package dashboard

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
)

const readersPath = "/api/v1/analytics/readers"

// readerPage is a page of the API's list of people who read.
type readerPage struct {
	Data       []readerRow `json:"data"`
	Pagination struct {
		Total      int64   `json:"total"`
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
	ExcludedBots int64             `json:"excluded_bots"`
	AsOf         time.Time         `json:"as_of"`
	Labels       map[string]string `json:"labels"`
}

type readerRow struct {
	Email       *string      `json:"email"`
	Name        *string      `json:"name"`
	Status      *string      `json:"status"`
	AccessLinks []string     `json:"access_links"`
	Source      readerSource `json:"source"`
	readerTotals
}

type readerSource struct {
	UTMSource    *string `json:"utm_source"`
	UTMCampaign  *string `json:"utm_campaign"`
	ReferrerHost *string `json:"referrer_host"`
}

// words say where a person came from.
func (s readerSource) words() string {
	for _, text := range []*string{s.UTMSource, s.ReferrerHost} {
		if text != nil {
			return *text
		}
	}
	return chart.None
}

// full are the words with the campaign.
func (s readerSource) full() string {
	if s.UTMCampaign == nil {
		return s.words()
	}
	return s.words() + " · " + *s.UTMCampaign
}

type readerTotals struct {
	Magnets    []string   `json:"magnets"`
	Sessions   int64      `json:"sessions"`
	Pages      int64      `json:"pages"`
	PageViews  int64      `json:"page_views"`
	ReadingMS  int64      `json:"reading_ms"`
	Finished   bool       `json:"finished"`
	Downloads  int64      `json:"downloads"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	Score      int64      `json:"score"`
	ScoreParts scoreOf    `json:"score_parts"`
}

type scoreOf struct {
	Finished  int64 `json:"finished"`
	Attention int64 `json:"attention"`
	Returns   int64 `json:"returns"`
	Downloads int64 `json:"downloads"`
	Recency   int64 `json:"recency"`
}

// sorts are the orders of the list, as the API names them.
var sorts = []struct{ value, key string }{
	{"-last_seen_at", "people.sort.seen"}, {"-score", "people.sort.score"}, {"-reading_ms", "people.sort.time"},
	{"-downloads", "people.sort.downloads"},
}

type peopleData struct {
	Headline frame.Sentence
	Q        string
	Sort     []option
	Keep     url.Values // parameters that the form keeps
	Everyone string     // address of the list without filters
	Narrowed bool       // by a filter or a search
	People   []personRow
	First    string // address of the first page; "": this is it
	More     string
}

type personRow struct {
	Name, URL, Source, Magnets string
	Campaign                   string // under the source
	Address                    string // beside the name; "": it is the name
	Status                     string // "": that of most
	Seen                       frame.Instant
	Finished                   bool
	Numbers                    []frame.Figure
}

// people lists who read in the period.
func (d *Dashboard) people(v *frame.Visit) error {
	if err := v.Narrow(view.Readers, frame.ReaderFilters()...); err != nil {
		return err
	}
	asked, query := v.R.URL.Query(), listQuery(v)
	query.Set("per_page", "50")
	if cursor := asked.Get("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	found, err := frame.Get[readerPage](v, readersPath, query)
	if f, ok := frame.Rejected(nil, err); ok {
		v.Bar.Refused = f.Any()
	} else if err != nil {
		return err
	}
	data := peopleData{Q: asked.Get("q"), Keep: v.Period.Query(), Everyone: v.Link("/dashboard/readers"),
		Narrowed: v.Filters.Any() || asked.Get("q") != ""}
	maps.Copy(data.Keep, v.Filters.Query())
	for _, o := range sorts {
		data.Sort = append(data.Sort, option{o.value, v.Say(o.key), asked.Get("sort") == o.value})
	}
	count := frame.Figure{Metric: "people", Value: float64(found.Pagination.Total),
		Before: chart.Gap(), Define: v.Define("people")}
	headline := "people.headline"
	if v.Filters.Get("opened") == "false" {
		headline, count.Metric, count.Define = "people.headline.unopened", "unopened", ""
	}
	data.Headline = v.Sentence(headline, "n", found.Pagination.Total, "people",
		&count, "period", v.Period.Words())
	for i := range found.Data {
		data.People = append(data.People, found.Data[i].shown(v, found.Labels))
	}
	if asked.Has("cursor") {
		data.First = v.Path("/dashboard/readers") + "?" + view.Beginning(asked).Encode()
	}
	if next := found.Pagination.NextCursor; next != nil {
		q := view.Beginning(asked)
		q.Set("cursor", *next)
		data.More = v.Path("/dashboard/readers") + "?" + q.Encode()
	}
	v.Bar.CSV = v.Path("/dashboard/readers.csv") + "?" + listOf(asked).Encode()
	return v.ShowStatus(d.screens["people"], http.StatusOK, frame.Screen{
		Title: v.Say("frame.nav.readers"), Nav: frame.Readers, AsOf: found.AsOf,
		Bots: found.ExcludedBots, Periods: true, Data: data,
	})
}

// listQuery returns the question for the list that the address asks for, or for its file.
func listQuery(v *frame.Visit) url.Values {
	query := v.Period.Times()
	maps.Copy(query, v.Filters.Query())
	for _, name := range []string{"q", "sort"} {
		if value := v.R.URL.Query().Get(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// exportPeople passes the file of the list on.
func (d *Dashboard) exportPeople(v *frame.Visit) error {
	v.ReadFilters(frame.ReaderFilters()...)
	query := listQuery(v)
	query.Set("format", "csv")
	query.Set("bom", "true") // a person opens the file, in Excel
	return v.Pass(readersPath+"/export", query)
}

// listOf returns what an address says of the list: its period, order, filters and page.
func listOf(q url.Values) url.Values {
	kept := url.Values{}
	for _, name := range slices.Concat(frame.ReaderFilters(), []string{"q", "without", "sort", "cursor", "days", "period",
		"from", "to", "compare"}) {
		if q.Get(name) != "" {
			kept[name] = q[name]
		}
	}
	return kept
}

// listBefore returns the address of the list that led to a person.
func listBefore(v *frame.Visit) string {
	asked, _ := url.ParseQuery(v.R.URL.Query().Get("list")) // what cannot be read is left out
	if list := listOf(asked).Encode(); list != "" {
		return v.Path("/dashboard/readers") + "?" + list
	}
	return v.Link("/dashboard/readers")
}

func (r *readerRow) shown(v *frame.Visit, labels map[string]string) personRow {
	p := personRow{Source: r.Source.words(), Finished: r.Finished, Numbers: r.figures(v), Status: statusOf(v, r.Status)}
	p.Name, p.Address = named(v, r.Name, r.Email)
	if r.Source.UTMCampaign != nil {
		p.Campaign = *r.Source.UTMCampaign
	}
	if len(r.AccessLinks) > 0 {
		p.URL = v.Path("/dashboard/readers/" + r.AccessLinks[len(r.AccessLinks)-1])
		if list := listOf(v.R.URL.Query()).Encode(); list != "" {
			p.URL += "?" + url.Values{"list": {list}}.Encode()
		}
	}
	p.Magnets = titles(r.Magnets, labels)
	if r.LastSeenAt != nil {
		p.Seen = v.When(r.LastSeenAt)
	}
	return p
}

// figures are the numbers of a person.
func (t *readerTotals) figures(v *frame.Visit) []frame.Figure {
	one := func(metric string, n int64) frame.Figure {
		f := v.Figure(frame.Row{metric: float64(n)}, metric)
		f.Before = chart.Gap()
		return f
	}
	return []frame.Figure{one("sessions", t.Sessions), one("pages", t.Pages), one("reading_ms", t.ReadingMS),
		one("downloads", t.Downloads), one("score", t.Score)}
}

func titles(ids []string, labels map[string]string) (text string) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if label := labels[id]; label != "" {
			if text != "" {
				text += ", "
			}
			text += label
		}
	}
	return text
}
