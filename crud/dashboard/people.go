package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
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
	Finished []option
	Sort     []option
	Keep     url.Values // parameters that the form keeps
	Of       string     // title of the lead magnet or landing page that the list is of
	Only     string     // what narrows it further, in words
	Everyone string     // address of the list without filters
	Narrowed bool       // by a filter or a search
	People   []personRow
	First    string // address of the first page; "": this is it
	More     string
}

type personRow struct {
	Name, URL, Source, Magnets string
	Address                    string // beside the name; "": it is the name
	Status                     string // "": that of most
	Seen                       frame.Instant
	Finished                   bool
	Numbers                    []frame.Figure
}

// narrowing are the parameters that narrow the list.
var narrowing = []string{"q", "lead_magnet_id", "generic_link_id", "utm_source", "referrer_host", "without", "device",
	"magnet_version", "min_pages", "reached", "stopped_at", "finished", "downloaded", "from_form"}

// people lists who read in the period.
func (d *Dashboard) people(v *frame.Visit) error {
	asked := v.R.URL.Query()
	query := v.Period.Times()
	for _, name := range slices.Concat(narrowing, []string{"sort", "cursor"}) {
		if value := asked.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	query.Set("per_page", "50")
	narrowed := slices.ContainsFunc(narrowing, query.Has)
	found, err := frame.Get[readerPage](v, readersPath, query)
	if err != nil {
		return err
	}
	data := peopleData{Q: asked.Get("q"), Keep: v.Period.Query(),
		Everyone: v.Link("/dashboard/readers"), Narrowed: narrowed}
	for _, name := range narrowing {
		if query.Has(name) && name != "q" && name != "finished" { // which the form has
			data.Keep.Set(name, query.Get(name))
		}
	}
	for _, o := range []struct{ value, key string }{{"", "people.everyone"}, {"true", "people.finished"},
		{"false", "people.unfinished"}} {
		data.Finished = append(data.Finished, option{o.value, v.Say(o.key), asked.Get("finished") == o.value})
	}
	for _, o := range sorts {
		data.Sort = append(data.Sort, option{o.value, v.Say(o.key), asked.Get("sort") == o.value})
	}
	count := frame.Figure{Metric: "people", Value: float64(found.Pagination.Total),
		Before: chart.Gap(), Define: v.Define("people")}
	data.Headline = v.Sentence("people.headline", "n", found.Pagination.Total, "people",
		&count, "period", v.Period.Words())
	switch id, link := asked.Get("lead_magnet_id"), asked.Get("generic_link_id"); {
	case link != "":
		data.Of = linkTitle(v, link)
	case id != "":
		data.Of = found.Labels[id]
	}
	data.Only = only(v, asked)
	for i := range found.Data {
		data.People = append(data.People, found.Data[i].shown(v, found.Labels))
	}
	if asked.Has("cursor") {
		q := v.R.URL.Query()
		q.Del("cursor")
		data.First = v.Path("/dashboard/readers") + "?" + q.Encode()
	}
	if next := found.Pagination.NextCursor; next != nil {
		q := v.R.URL.Query()
		q.Set("cursor", *next)
		data.More = v.Path("/dashboard/readers") + "?" + q.Encode()
	}
	return v.ShowStatus(d.screens["people"], http.StatusOK, frame.Screen{
		Title: v.Say("frame.nav.readers"), Nav: frame.Readers, AsOf: found.AsOf,
		Bots: found.ExcludedBots, Periods: true, Data: data,
	})
}

// listOf returns what an address says of the list: its period, order, filters and page.
func listOf(q url.Values) url.Values {
	kept := url.Values{}
	for _, name := range slices.Concat(narrowing, []string{"sort", "cursor", "days", "from", "to", "compare"}) {
		if value := q.Get(name); value != "" {
			kept.Set(name, value)
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

// only says what the people of the list have in common: their source, device or version, and what
// they did. It is "" if the list is not narrowed by such a filter.
func only(v *frame.Visit, asked url.Values) string {
	var list []string
	for _, name := range []string{"utm_source", "referrer_host", "device", "magnet_version",
		"min_pages", "reached", "stopped_at"} {
		if value := asked.Get(name); value != "" {
			list = append(list, v.Say("people.only."+name, "value", value))
		}
	}
	if name := asked.Get("without"); name == "utm_source" || name == "referrer_host" {
		list = append(list, v.Say("people.only."+name+".none"))
	}
	for _, name := range []string{"downloaded", "from_form"} {
		if value := asked.Get(name); value == "true" || value == "false" {
			list = append(list, v.Say("people.only."+name+"."+value))
		}
	}
	return strings.Join(list, ", ")
}

// linkTitle returns the title of a landing page; "" if there is none.
func linkTitle(v *frame.Visit, id string) string {
	l, err := frame.Get[client.GenericLink](v, linksPath+"/"+url.PathEscape(id), nil)
	if err != nil {
		return "" // the list says what it can
	}
	for _, label := range []*string{l.Name, l.Title} {
		if label != nil {
			return *label
		}
	}
	return l.Slug
}

func (r *readerRow) shown(v *frame.Visit, labels map[string]string) personRow {
	p := personRow{Source: r.Source.words(), Finished: r.Finished, Numbers: r.figures(v), Status: statusOf(v, r.Status)}
	p.Name, p.Address = named(v, r.Name, r.Email)
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
