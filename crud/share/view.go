package share

import (
	"html/template"
	"strconv"
	"time"

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
	Days           int
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
	Bots           string
	ChartCSS       template.CSS
}

type choice struct {
	Words, URL string
	Chosen     bool
}

// tile is one number with its word in the API.
type tile struct{ Label, Metric, Text, Exact string }

func (s *Shares) view(o opened, r report, p period) viewData {
	totals := r.overview.Totals
	d := viewData{
		Title: o.Title, Account: o.AccountName, Days: p.Days, Min: MinReaders, Few: totals.Readers < MinReaders,
		Empty:    totals.Readers == 0 && totals.LinkViews == 0 && totals.Submissions == 0,
		AsOf:     r.overview.AsOf.UTC().Format("2 January 2006, 15:04 UTC"),
		Exact:    r.overview.AsOf.UTC().Format(time.RFC3339),
		ChartCSS: template.CSS(chart.CSS), //nolint:gosec // ours
	}
	if n := r.overview.ExcludedBots; n > 0 {
		d.Bots = chart.Count(float64(n))
	}
	for _, one := range periods {
		d.Periods = append(d.Periods, choice{strconv.Itoa(one.Days) + " days", s.deps.Pages.Path(pagePath+o.share.Token) + "?days=" + strconv.Itoa(one.Days), one == p})
	}
	add := func(label, metric string, value float64, format chart.Format) {
		d.Tiles = append(d.Tiles, tile{label, metric, format(value), chart.Exact(value)})
	}
	add("Readers", "readers", totals.Readers, chart.Count)
	add("Page views", "link_views", totals.LinkViews, chart.Count)
	add("Forms sent", "submissions", totals.Submissions, chart.Count)
	add("Read to the end", "finish_rate", orGap(totals.FinishRate), chart.Share)
	add("Downloads", "downloads", totals.Downloads, chart.Count)
	d.Funnel = chart.Figure(funnelOf(r.funnel))
	d.Over = chart.Figure(overTime(r.overview.Rows, p))
	if !d.Few && len(r.pages) > 0 {
		d.Curve = chart.Figure(curveOf(r.pages))
	}
	return d
}

func orGap(v *float64) float64 {
	if v == nil {
		return chart.Gap()
	}
	return *v
}

var stepNames = map[string]string{
	"link_view": "Saw the page", "submission": "Sent the form", "verified": "Confirmed the address", "opened": "Opened the document",
	"finished": "Read to the end", "downloaded": "Downloaded",
}

// funnelOf draws the steps. The median time of a step is shown from MinReaders people on, since that of one is a person's own.
func funnelOf(steps []funnelStep) chart.Funnel {
	f := chart.Funnel{Title: "How many get how far"}
	for _, s := range steps {
		wait := chart.Gap()
		if s.MedianSeconds != nil && s.Count >= MinReaders {
			wait = *s.MedianSeconds * 1000
		}
		name := stepNames[s.Step]
		if name == "" {
			name = s.Step
		}
		f.Steps = append(f.Steps, chart.Step{Name: name, Metric: s.Step, Count: s.Count, Rate: orGap(s.Rate), Total: orGap(s.TotalRate), Before: chart.Gap(), Wait: wait})
	}
	return f
}

func overTime(rows []numbers, p period) chart.Line {
	l := chart.Line{Title: "Readers by " + p.Interval, Series: []chart.Series{{Name: "Readers", Metric: "readers"}}}
	for _, r := range rows {
		at, err := time.Parse(time.RFC3339, r.Time)
		if err != nil {
			continue // the API writes no other
		}
		l.Labels = append(l.Labels, at.Format("2 Jan"))
		l.Series[0].Values = append(l.Series[0].Values, r.Readers)
		l.Partial = r.Partial
	}
	return l
}

// curveOf draws how far readers come, and how long they stay on pages that at least MinReaders viewed.
func curveOf(pages []pageRow) chart.Pages {
	c := chart.Pages{Title: "How far readers come, and how long they stay"}
	for _, p := range pages {
		median := chart.Gap()
		if p.Readers >= MinReaders {
			median = orGap(p.MedianMS)
		}
		c.Rows = append(c.Rows, chart.PageRow{Page: p.Page, Reached: p.Reached, Stopped: p.Stopped, Median: median})
	}
	return c
}
