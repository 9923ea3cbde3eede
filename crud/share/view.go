package share

import (
	"html/template"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/chart"
)

// period is a range of whole days in UTC that ends today.
type period struct {
	Days     int
	Interval string
}

var periods = []period{{30, "day"}, {90, "day"}, {365, "week"}}

// periodOf returns the period of a parameter, the shortest for any that is not offered.
func periodOf(days string) period {
	for _, p := range periods {
		if strconv.Itoa(p.Days) == days {
			return p
		}
	}
	return periods[0]
}

func (p period) bounds(now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	return to.AddDate(0, 0, -p.Days), to
}

// viewData is the data of the page.
type viewData struct {
	Title, Account string
	Last           string // days of the period, in words
	Periods        []choice
	Tiles          []tile
	Empty          bool // no one came in the period
	Few            bool // too few readers to show pages
	Min            int
	Funnel         template.HTML
	Notes          []string // below the funnel
	Over           template.HTML
	Curve          template.HTML
	Version        string // whose pages the curve has, of a document with several; "": the only one
	AsOf           string
	Exact          string // of AsOf
	Bots           int64
	ChartCSS       template.CSS
}

// Clock is the time of the numbers as an element.
func (d viewData) Clock() template.HTML {
	return template.HTML(`<time datetime="` + template.HTMLEscapeString(d.Exact) + `" title="` + template.HTMLEscapeString(d.Exact) + `">` + template.HTMLEscapeString(d.AsOf) + `</time>`) //nolint:gosec // everything is escaped
}

type choice struct {
	Words, URL string
	Chosen     bool
}

// tile is one number with its word in the API.
type tile struct{ Label, Metric, Text, Exact string }

func (s *Shares) view(t *web.Texts, o visitorShare, r report, p period) viewData {
	totals := r.overview.Totals
	d := viewData{
		Title: o.Title, Account: o.AccountName, Last: t.Say("share.last", "n", p.Days), Min: MinReaders,
		Few:      totals.Number("people") < MinReaders,
		Empty:    !totals.HasAny("people", "visitors", "submissions"),
		AsOf:     t.Moment(r.overview.AsOf.UTC()),
		Exact:    r.overview.AsOf.UTC().Format(time.RFC3339),
		ChartCSS: template.CSS(chart.CSS), //nolint:gosec // ours
	}
	d.Bots = r.overview.ExcludedBots
	for _, one := range periods {
		d.Periods = append(d.Periods, choice{t.Say("share.days", "n", one.Days), s.deps.Pages.Path(pagePath+o.share.Token) +
			"?days=" + strconv.Itoa(one.Days), one == p})
	}
	f := frame.FunnelOf(totals, func(metric string) string { return t.Say(names[metric]) })
	for _, step := range f.Steps {
		switch step.Metric {
		case "verified": // the funnel has it
		case "people": // first: it has the most room on a phone
			d.Tiles = slices.Insert(d.Tiles, 0, tile{step.Name, step.Metric, chart.Count(step.Count), chart.Exact(step.Count)})
		case "people_finished":
			d.Tiles = append(d.Tiles, tile{step.Name, "people_finish_rate", chart.Share(step.Rate), chart.Exact(step.Rate)})
		default:
			d.Tiles = append(d.Tiles, tile{step.Name, step.Metric, chart.Count(step.Count), chart.Exact(step.Count)})
		}
	}
	own := words(t)
	d.Funnel = chart.FigureIn(chart.Funnel{Title: t.Say("share.funnel"), Steps: f.Steps, Own: own}, own)
	d.Notes = notes(t, f)
	d.Over = chart.FigureIn(overTime(t, r.overview.Rows, p), own)
	if !d.Few && len(r.pages) > 0 {
		d.Curve = chart.FigureIn(curveOf(t, r.pages), own)
		if r.version > 1 {
			d.Version = t.Say("share.version", "n", r.version)
		}
	}
	return d
}

func orGap(v *float64) float64 {
	if v == nil {
		return chart.Gap()
	}
	return *v
}

// names are the keys of what people call the numbers.
var names = map[string]string{
	"visitors": "share.visitors", "submissions": "share.forms", "verified": "share.confirmed", "people": "share.readers",
	"people_finished": "share.finished", "people_downloaded": "share.downloaded",
}

// notes say who of a funnel sent no form, and why a step has no rate.
func notes(t *web.Texts, f frame.Funnel) (list []string) {
	if f.WithoutForm > 0 {
		list = append(list, t.Say("share.without_form", "n", int(f.WithoutForm)))
	}
	if f.MoreForms {
		list = append(list, t.Say("share.more_forms"))
	}
	if f.MorePeople {
		list = append(list, t.Say("share.more_people"))
	}
	return list
}

// chartWords are the keys of the words of charts.
var chartWords = map[string]string{
	"Table": "share.chart.table", "Step": "share.chart.step", "Count": "share.chart.count",
	"Of the step before": "share.chart.of_before", "Of all": "share.chart.of_all",
	"Median time": "share.chart.median", "Time": "share.chart.time", "Page": "share.chart.page",
	"Reached": "share.chart.reached", "Stopped": "share.chart.stopped",
}

func words(t *web.Texts) chart.Words {
	w := chart.Words{}
	for english, key := range chartWords {
		w[english] = t.Say(key)
	}
	return w
}

func overTime(t *web.Texts, rows []frame.Row, p period) chart.Line {
	title := t.Say("share.by_day")
	if p.Interval == "week" {
		title = t.Say("share.by_week")
	}
	l := chart.Line{Title: title, Own: words(t), Series: []chart.Series{{Name: t.Say("share.readers"), Metric: "people"}}}
	for _, r := range rows {
		l.Labels = append(l.Labels, t.Short(r.Time()))
		l.Series[0].Values = append(l.Series[0].Values, r.Number("people"))
		l.Partial = r.Is("partial")
	}
	return l
}

// curveOf draws how far readers come, and how long they stay on pages that at least MinReaders
// viewed.
func curveOf(t *web.Texts, pages []pageRow) chart.Pages {
	c := chart.Pages{Title: t.Say("share.stay"), Own: words(t)}
	for _, p := range pages {
		median := chart.Gap()
		if p.Readers >= MinReaders {
			median = orGap(p.MedianMS)
		}
		c.Rows = append(c.Rows, chart.PageRow{Page: p.Page, Reached: p.Reached, Stopped: p.Stopped, Median: median})
	}
	return c
}
