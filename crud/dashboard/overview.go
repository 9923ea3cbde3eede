package dashboard

import (
	"cmp"
	"html/template"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

// metricOf is a number at the top, with a rate beside it.
type metricOf struct{ metric, rate string }

// tilesOf are the numbers at the top. Confirmed addresses are among them where addresses are
// confirmed.
func tilesOf(totals frame.Row) []metricOf {
	second := metricOf{metric: "verified"}
	if !totals.Confirms() {
		second.metric = "reading_ms"
	}
	return []metricOf{
		{"visitors", ""}, {"submissions", "submission_rate"}, second, {"people", ""},
		{"people_finished", "people_finish_rate"}, {"people_downloaded", "people_download_rate"},
	}
}

// Questions of the overview.
const (
	byTime   = frame.ByTime
	byMagnet = frame.ByMagnet
)

var overviewMetrics = append(frame.FunnelMetrics(), "page_views", "reading_ms", "median_page_ms")

// seriesMetrics are those that the large chart can show.
var seriesMetrics = []string{
	"visitors", "submissions", "verified", "people", "people_finished", "people_downloaded", "page_views", "reading_ms",
	"submission_rate", "people_finish_rate",
	"people_download_rate", "median_page_ms",
}

// tile is a number with its rate, its change and its course.
type tile struct {
	frame.Figure
	Rate  *frame.Figure
	Spark template.HTML
}

// magnetRow is a lead magnet in the list.
type magnetRow struct {
	Title, URL string
	Active     bool
	Numbers    []frame.Figure
	Funnel     template.HTML
}

// magnetMetrics are the columns of the list of lead magnets. The address can name one as the order,
// the highest first; else it is people.
var magnetMetrics = []string{"visitors", "submissions", "people", "people_finish_rate", "people_downloaded"}

// column is the head of a column, which orders the list.
type column struct {
	frame.Figure
	Sorted bool
}

type overviewData struct {
	Headline frame.Sentence
	Tiles    []tile
	Days     template.HTML // table behind the sparklines
	Metrics  []option
	Second   []option
	Charts   []template.HTML
	Heads    []column
	Magnets  []magnetRow
	CSV      string // address of the file of all lead magnets
	Sort     string // metric that the address orders the list by; "": none
	More     int64  // lead magnets that are not listed
	Now      nowReading
	Calls    []callRow
	Changes  []frame.Sentence
	New      bool // nothing was published yet
	Quiet    bool // no one came in the period or before: how to begin takes the place of charts of zeros
}

type option struct {
	Value, Words string
	Chosen       bool
}

func (d *Dashboard) overview(v *frame.Visit) error {
	if err := v.Narrow(view.Overview, overviewFilters...); err != nil {
		return err
	}
	var (
		magnets client.Page[client.LeadMagnet]
		now     nowReport
		calls   []callRow
		answers frame.Batch
		group   errgroup.Group
	)
	group.Go(func() (err error) {
		magnets, err = listMagnets(v)
		return err
	})
	group.Go(func() (err error) {
		now, err = frame.Get[nowReport](v, nowPath, nil)
		return err
	})
	group.Go(func() (err error) {
		calls, err = readCalls(v)
		return err
	})
	group.Go(func() (err error) {
		answers, err = v.Ask(frame.ChangeQueries(frame.Query{Metrics: overviewMetrics, Interval: v.Period.Interval()})...)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if magnets.Pagination.Total == 0 {
		return v.Show(d.screens["overview"], frame.Screen{Title: v.Say("frame.nav.overview"), Nav: frame.Overview,
			Data: overviewData{New: true}})
	}
	all := answers.Of(byTime)
	data := overviewData{
		Headline: headline(v, all.Totals),
		Now:      readingNow(v, now, byID(magnets.Data), maxGlance), Changes: frame.Changes(v, answers),
		Calls: calls,
		More:  magnets.Pagination.Total - int64(len(magnets.Data)),
	}
	data.Sort = magnetOrder(v)
	data.CSV = v.Path("/dashboard/documents.csv") + "?" + view.Beginning(v.R.URL.Query()).Encode()
	data.addMagnets(v, magnets.Data, answers.Of(byMagnet))
	var numbers []chart.Series
	data.Tiles, numbers = overviewTiles(v, all, "")
	data.Days = tableOf(v, all, numbers)
	if data.Quiet = v.MayWrite() && !v.Filters.Any() && quiet(all.Totals); !data.Quiet {
		data.addSeries(v, all)
	}
	return v.Show(d.screens["overview"], frame.Screen{
		Title: v.Say("frame.nav.overview"), Nav: frame.Overview, AsOf: answers.AsOf, Bots: answers.Bots,
		Periods: true, Compares: true, Data: data,
	})
}

// quiet reports whether all numbers are zero, now and before.
func quiet(totals frame.Row) bool {
	for _, t := range tilesOf(totals) {
		if totals.Number(t.metric) > 0 || totals.Before(t.metric) > 0 {
			return false
		}
	}
	return true
}

// headline is the answer to what one opens the overview for.
func headline(v *frame.Visit, totals frame.Row) frame.Sentence {
	readers, rate := v.Figure(totals, "people"), v.Figure(totals, "people_finish_rate")
	if readers.Value == 0 {
		return v.Sentence("overview.headline.none", "period", v.Period.Words())
	}
	if !(rate.Value > 0) {
		return v.Sentence("overview.headline", "n", int64(readers.Value), "readers", &readers, "period", v.Period.Words())
	}
	return v.Sentence("overview.headline.end", "n", int64(readers.Value), "readers", &readers, "period",
		v.Period.Words(), "rate", &rate)
}

const tilesTable = "numbers"

// overviewTiles returns the tiles of all lead magnets, or of one, each with the way to what is
// behind it, and the numbers of their sparklines, for the table behind them.
func overviewTiles(v *frame.Visit, all frame.Answer, magnet string) (list []tile, numbers []chart.Series) {
	for _, t := range tilesOf(all.Totals) {
		now, _ := all.Series(t.metric)
		figure := v.Figure(all.Totals, t.metric)
		figure.URL = behind(v, t.metric, magnet)
		one := tile{Figure: figure,
			Spark: chart.Picture(chart.Spark{Title: v.Period.By(figure.Label), Behind: tilesTable, Values: now})}
		if t.rate != "" && v.Counts(t.rate) {
			rate := v.Figure(all.Totals, t.rate)
			one.Rate = &rate
		}
		list = append(list, one)
		numbers = append(numbers, chart.Series{Name: figure.Label, Metric: t.metric, Values: now})
	}
	return list, numbers
}

// tableOf is the table behind the tiles alone.
func tableOf(v *frame.Visit, all frame.Answer, numbers []chart.Series) template.HTML {
	line := chart.Line{Title: v.Period.By(v.Say("overview.numbers")), Labels: all.Times(v.Period), Series: numbers}
	return template.HTML(line.Table().HTML()) //nolint:gosec // package chart escapes
}

// addSeries adds the large chart: two metrics of one unit in one picture, else one below the other.
func (o *overviewData) addSeries(v *frame.Visit, all frame.Answer) {
	q := v.R.URL.Query()
	first, second := chosen(q.Get("metric"), "people"), chosen(q.Get("second"), "people_finished")
	if q.Get("second") == "none" {
		second = ""
	}
	o.Metrics, o.Second = options(v, all.Totals, first),
		append([]option{{"none", v.Say("overview.nothing"), second == ""}}, options(v, all.Totals, second)...)
	line := seriesOf(v, all, first)
	if second != "" && second != first {
		other := seriesOf(v, all, second)
		if v.Figure(all.Totals, first).Unit() == v.Figure(all.Totals, second).Unit() {
			other.Series[0].Kind = chart.Second
			line.Series = append(line.Series, other.Series[0])
			line.Title = v.Period.By(v.Say("overview.two", "first", v.Label(first), "second", v.Label(second)))
		} else {
			o.Charts = append(o.Charts, chart.Figure(line))
			line = other
		}
	}
	o.Charts = append(o.Charts, chart.Figure(line))
}

func chosen(metric, otherwise string) string {
	if slices.Contains(seriesMetrics, metric) {
		return metric
	}
	return otherwise
}

// options are the metrics to choose from. Confirmed addresses are one of them where addresses are
// confirmed.
func options(v *frame.Visit, totals frame.Row, selected string) (list []option) {
	for _, m := range seriesMetrics {
		if m == "verified" && m != selected && !totals.Confirms() {
			continue
		}
		list = append(list, option{m, v.Label(m), m == selected})
	}
	return list
}

// seriesOf is a metric over time with the time before.
func seriesOf(v *frame.Visit, a frame.Answer, metric string) chart.Line {
	now, before := a.Series(metric)
	l := chart.Line{
		Title: v.Period.By(v.Label(metric)), Labels: a.Times(v.Period), Step: v.Period.Interval(), First: a.First(v.Period),
		Partial: a.Unfinished(), Format: v.Figure(a.Totals, metric).Format,
		Series: []chart.Series{{Name: v.Short(metric), Metric: metric, Values: now}},
	}
	if slices.ContainsFunc(before, func(n float64) bool { return !math.IsNaN(n) }) {
		l.Series = append(l.Series, chart.Series{Name: v.Say("overview.before"), Kind: chart.Before, Values: before})
	}
	return l
}

// addMagnets lists the lead magnets in the order that the address asks for.
func (o *overviewData) addMagnets(v *frame.Visit, magnets []client.LeadMagnet, a frame.Answer) {
	order := cmp.Or(o.Sort, "people")
	for _, metric := range magnetMetrics {
		head := column{v.Figure(frame.Row{}, metric), metric == order}
		q := view.Beginning(v.R.URL.Query())
		q.Set("sort", metric)
		head.URL = v.Path("/dashboard") + "?" + q.Encode() + "#magnets"
		o.Heads = append(o.Heads, head)
	}
	for _, m := range ordered(v, numbered(v, magnets, a)) {
		row := magnetRow{Title: m.Title, URL: v.Here("/dashboard/magnets/" + m.ID), Active: m.IsActive}
		for _, metric := range magnetMetrics {
			row.Numbers = append(row.Numbers, v.Figure(m.numbers, metric))
		}
		row.Funnel = chart.Picture(chart.Funnel{Title: v.Say("overview.funnel_of", "title", m.Title), Small: true,
			Steps: frame.FunnelOf(m.numbers, v.Label).Steps})
		o.Magnets = append(o.Magnets, row)
	}
}
