package share

import (
	"html/template"
	"strconv"
	"time"

	"lodestone/crud/catalogue"
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

// viewData is what the page shows.
type viewData struct {
	Title, Account string
	Last           string // days of the period, in words
	Periods        []choice
	Tiles          []tile
	Empty          bool // no one came in the period
	Few            bool // too few readers to show pages
	Min            int
	Funnel         template.HTML
	Over           template.HTML
	Curve          template.HTML
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

func (s *Shares) view(t *catalogue.Texts, o opened, r report, p period) viewData {
	totals := r.overview.Totals
	d := viewData{
		Title: o.Title, Account: o.AccountName, Last: t.Say("share.last", "n", p.Days), Min: MinReaders, Few: totals.Readers < MinReaders,
		Empty:    totals.Readers == 0 && totals.LinkViews == 0 && totals.Submissions == 0,
		AsOf:     t.Moment(r.overview.AsOf.UTC()),
		Exact:    r.overview.AsOf.UTC().Format(time.RFC3339),
		ChartCSS: template.CSS(chart.CSS), //nolint:gosec // ours
	}
	d.Bots = r.overview.ExcludedBots
	for _, one := range periods {
		d.Periods = append(d.Periods, choice{t.Say("share.days", "n", one.Days), s.deps.Pages.Path(pagePath+o.share.Token) + "?days=" + strconv.Itoa(one.Days), one == p})
	}
	add := func(label, metric string, value float64, format chart.Format) {
		d.Tiles = append(d.Tiles, tile{label, metric, format(value), chart.Exact(value)})
	}
	add(t.Say("share.readers"), "readers", totals.Readers, chart.Count)
	add(t.Say("share.views"), "link_views", totals.LinkViews, chart.Count)
	add(t.Say("share.forms"), "submissions", totals.Submissions, chart.Count)
	add(t.Say("share.finished"), "finish_rate", orGap(totals.FinishRate), chart.Share)
	add(t.Say("share.downloads"), "downloads", totals.Downloads, chart.Count)
	own := words(t)
	d.Funnel = chart.FigureIn(funnelOf(t, r.funnel), own)
	d.Over = chart.FigureIn(overTime(t, r.overview.Rows, p), own)
	if !d.Few && len(r.pages) > 0 {
		d.Curve = chart.FigureIn(curveOf(t, r.pages), own)
	}
	return d
}

func orGap(v *float64) float64 {
	if v == nil {
		return chart.Gap()
	}
	return *v
}

// stepNames are the keys of what people call the steps.
var stepNames = map[string]string{
	"link_view": "share.step.link_view", "submission": "share.step.submission", "verified": "share.step.verified", "opened": "share.step.opened",
	"finished": "share.step.finished", "downloaded": "share.step.downloaded",
}

// chartWords are the keys of the words of charts.
var chartWords = map[string]string{
	"Table": "share.chart.table", "Step": "share.chart.step", "Count": "share.chart.count", "Of the step before": "share.chart.of_before", "Of all": "share.chart.of_all",
	"Median time": "share.chart.median", "Time": "share.chart.time", "Page": "share.chart.page", "Reached": "share.chart.reached", "Stopped": "share.chart.stopped",
}

func words(t *catalogue.Texts) chart.Words {
	w := chart.Words{}
	for english, key := range chartWords {
		w[english] = t.Say(key)
	}
	return w
}

// funnelOf draws the steps. The median time of a step is shown from MinReaders people on, since that of one is a person's own.
func funnelOf(t *catalogue.Texts, steps []funnelStep) chart.Funnel {
	f := chart.Funnel{Title: t.Say("share.funnel"), Own: words(t)}
	for _, s := range steps {
		wait := chart.Gap()
		if s.MedianSeconds != nil && s.Count >= MinReaders {
			wait = *s.MedianSeconds * 1000
		}
		name := s.Step
		if key, ok := stepNames[s.Step]; ok {
			name = t.Say(key)
		}
		f.Steps = append(f.Steps, chart.Step{Name: name, Metric: s.Step, Count: s.Count, Rate: orGap(s.Rate), Total: orGap(s.TotalRate), Before: chart.Gap(), Wait: wait})
	}
	return f
}

func overTime(t *catalogue.Texts, rows []numbers, p period) chart.Line {
	title := t.Say("share.by_day")
	if p.Interval == "week" {
		title = t.Say("share.by_week")
	}
	l := chart.Line{Title: title, Own: words(t), Series: []chart.Series{{Name: t.Say("share.readers"), Metric: "readers"}}}
	for _, r := range rows {
		at, err := time.Parse(time.RFC3339, r.Time)
		if err != nil {
			continue // the API writes no other
		}
		l.Labels = append(l.Labels, t.Short(at))
		l.Series[0].Values = append(l.Series[0].Values, r.Readers)
		l.Partial = r.Partial
	}
	return l
}

// curveOf draws how far readers come, and how long they stay on pages that at least MinReaders viewed.
func curveOf(t *catalogue.Texts, pages []pageRow) chart.Pages {
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
