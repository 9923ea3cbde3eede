package dashboard

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
)

// addFunnel adds the funnel of a lead magnet. A step leads to what it counts.
func (d *magnetData) addFunnel(v *frame.Visit, totals frame.Row) {
	f := frame.FunnelOf(totals, v.Label)
	f.Steps = slices.DeleteFunc(f.Steps, func(s chart.Step) bool { return !v.Counts(s.Metric) })
	for i := range f.Steps {
		f.Steps[i].URL = behind(v, f.Steps[i].Metric, d.Magnet.ID)
	}
	d.Funnel = chart.Figure(chart.Funnel{Title: v.Say("magnet.funnel"), Steps: f.Steps})
	d.MoreForms, d.MorePeople = f.MoreForms, f.MorePeople
	if f.WithoutForm > 0 {
		d.Formless = v.Figure(totals, "people_without_form")
		d.Formless.URL = v.People("lead_magnet_id", d.Magnet.ID, "from_form", "false")
	}
}

// behind returns the address of the list behind a number of the period: of people who read, or of
// landing pages with their forms. The number is that of one lead magnet, or of all if magnet is
// empty.
func behind(v *frame.Visit, metric, magnet string) string {
	switch metric {
	case "visitors", "submissions", "verified":
		return v.Landings(magnet)
	case "people_finished":
		return v.People("lead_magnet_id", magnet, "finished", "true")
	case "people_downloaded":
		return v.People("lead_magnet_id", magnet, "downloaded", "true")
	case "reading_ms":
		return v.People("lead_magnet_id", magnet, "sort", "-reading_ms")
	default:
		return v.People("lead_magnet_id", magnet)
	}
}

// rowURL returns the address of what is behind a row of a lead magnet's numbers by a dimension; ""
// if no screen lists it.
func rowURL(v *frame.Visit, magnet, dimension, value string) string {
	filter, value := frame.Source(dimension, value)
	if value == "" { // people without a landing page have no list
		return ""
	}
	return v.People("lead_magnet_id", magnet, filter, value)
}

// number returns a gap for null.
func number(n *float64) float64 {
	if n == nil {
		return chart.Gap()
	}
	return *n
}

// pagesReport is the API's answer about the pages of a document.
type pagesReport struct {
	Data []struct {
		Page     int      `json:"page"`
		Reached  int64    `json:"people_reached"`
		Stopped  int64    `json:"people_stopped"`
		MedianMS *float64 `json:"median_ms"`
	} `json:"data"`
	MagnetVersion *int `json:"magnet_version"`
}

// askPages asks for the pages of the version that the address names, or the newest, and for those
// of the version before.
func askPages(v *frame.Visit, query url.Values) (now pagesReport, before *pagesReport, err error) {
	const path = "/api/v1/analytics/pages"
	q := maps.Clone(query)
	if n, err := strconv.Atoi(v.R.URL.Query().Get("version")); err == nil && n > 0 {
		q.Set("magnet_version", strconv.Itoa(n))
	}
	if now, err = frame.Get[pagesReport](v, path, q); err != nil || now.MagnetVersion == nil || *now.MagnetVersion < 2 {
		return now, nil, err
	}
	q.Set("magnet_version", strconv.Itoa(*now.MagnetVersion-1))
	older, err := frame.Get[pagesReport](v, path, q)
	if err != nil || len(older.Data) == 0 {
		return now, nil, err
	}
	return now, &older, nil
}

// number is that of the version; 0 if it is not known.
func (p pagesReport) number() int {
	if p.MagnetVersion == nil {
		return 0
	}
	return *p.MagnetVersion
}

func (p pagesReport) version(v *frame.Visit) string {
	if p.number() == 0 {
		return ""
	}
	return v.Say("magnet.version", "number", strconv.Itoa(p.number()))
}

func (p pagesReport) rows() (list []chart.PageRow) {
	for _, r := range p.Data {
		list = append(list, chart.PageRow{Page: r.Page, Reached: float64(r.Reached), Stopped: float64(r.Stopped),
			Median: number(r.MedianMS)})
	}
	return list
}

func (p pagesReport) chart(v *frame.Visit, magnet string, before *pagesReport) chart.Pages {
	c := chart.Pages{Title: v.Say("magnet.pages.title"), Rows: p.rows(), URL: func(page int, stopped bool) string {
		filter := "reached"
		if stopped {
			filter = "stopped_at"
		}
		return v.People("lead_magnet_id", magnet, "magnet_version", strconv.Itoa(p.number()), filter, strconv.Itoa(page))
	}}
	if before != nil {
		c.Before, c.Was = before.rows(), before.version(v)
	}
	return c
}

// returnWeeks is how many weeks of first reads are shown.
const returnWeeks = 8

// retentionReport is the API's answer about readers who return.
type retentionReport struct {
	Data []struct {
		Cohort   time.Time `json:"cohort"`
		Size     int64     `json:"size"`
		Returned []struct {
			After   int     `json:"after"`
			Readers int64   `json:"readers"`
			Rate    float64 `json:"rate"`
		} `json:"returned"`
	} `json:"data"`
}

func (r retentionReport) chart(v *frame.Visit) chart.Heat {
	h := chart.Heat{Title: v.Say("magnet.returns.title"), Name: v.Say("magnet.returns.first"),
		Across: v.Say("magnet.returns.later"), Written: true, Format: chart.Share}
	for week := 1; week <= returnWeeks; week++ {
		h.Columns = append(h.Columns, "+"+strconv.Itoa(week))
	}
	for _, c := range r.Data {
		h.Rows = append(h.Rows, v.Day(c.Cohort))
		row := make([]float64, returnWeeks)
		for i := range row {
			row[i] = chart.Gap()
		}
		for _, w := range c.Returned {
			if w.After >= 1 && w.After <= returnWeeks {
				row[w.After-1] = w.Rate
			}
		}
		h.Values = append(h.Values, row)
	}
	return h
}
