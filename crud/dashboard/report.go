package dashboard

import (
	"maps"
	"net/url"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
)

// funnelReport is the API's answer about a funnel.
type funnelReport struct {
	Data []struct {
		Step          string   `json:"step"`
		Count         int64    `json:"count"`
		Rate          *float64 `json:"rate"`
		TotalRate     *float64 `json:"total_rate"`
		MedianSeconds *float64 `json:"median_seconds"`
	} `json:"data"`
}

// steps are the keys of what people call the steps of a funnel.
var steps = map[string]string{
	"link_view": "magnet.step.view", "submission": "magnet.step.form", "verified": "magnet.step.confirmed", "opened": "magnet.step.opened",
	"finished": "magnet.step.finished", "downloaded": "magnet.step.downloaded",
}

// chart draws the funnel. A step leads to the people who took it and went no further, where the API can list them.
func (f funnelReport) chart(v *frame.Visit, magnet string) chart.Funnel {
	c := chart.Funnel{Title: v.Say("magnet.funnel")}
	for _, s := range f.Data {
		step := chart.Step{Name: v.Say(steps[s.Step]), Metric: s.Step, Count: float64(s.Count), Rate: number(s.Rate), Total: number(s.TotalRate), Before: chart.Gap(), Wait: chart.Gap()}
		if s.MedianSeconds != nil {
			step.Wait = *s.MedianSeconds * 1000
		}
		switch s.Step {
		case "submission", "verified":
			step.URL = behind(v, "submissions", magnet)
		case "opened":
			step.URL = v.People("lead_magnet_id", magnet, "finished", "false")
		case "finished":
			step.URL = behind(v, "finished", magnet)
		case "downloaded":
			step.URL = behind(v, "downloads", magnet)
		}
		c.Steps = append(c.Steps, step)
	}
	return c
}

// behind returns the address of the list behind a number of the period: of people who read, or of landing pages with their forms. The number is
// that of one lead magnet, or of all if magnet is empty.
func behind(v *frame.Visit, metric, magnet string) string {
	switch metric {
	case "visitors", "submissions", "verified":
		if magnet == "" {
			return v.Link("/dashboard/links")
		}
		q := v.Period.Query()
		q.Set("magnet", magnet)
		return v.Path("/dashboard/links") + "?" + q.Encode()
	case "finished":
		return v.People("lead_magnet_id", magnet, "finished", "true")
	case "downloads":
		return v.People("lead_magnet_id", magnet, "sort", "-downloads") // the API has no filter for them: they come first
	default:
		return v.People("lead_magnet_id", magnet)
	}
}

// rowURL returns the address of what is behind a row of a lead magnet's numbers by a dimension; "" if no screen lists it.
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
		Reached  int64    `json:"reached"`
		Stopped  int64    `json:"stopped"`
		MedianMS *float64 `json:"median_ms"`
	} `json:"data"`
	MagnetVersion *int `json:"magnet_version"`
}

// askPages asks for the pages of the version that the address names, or the newest, and for those of the version before.
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
		list = append(list, chart.PageRow{Page: r.Page, Reached: float64(r.Reached), Stopped: float64(r.Stopped), Median: number(r.MedianMS)})
	}
	return list
}

func (p pagesReport) chart(v *frame.Visit, magnet string, before *pagesReport) chart.Pages {
	c := chart.Pages{Title: v.Say("magnet.pages.title"), Rows: p.rows(), URL: func(page int) string {
		return v.People("lead_magnet_id", magnet, "min_pages", strconv.Itoa(page))
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
	h := chart.Heat{Title: v.Say("magnet.returns.title"), Name: v.Say("magnet.returns.first"), Across: v.Say("magnet.returns.later"), Written: true, Format: chart.Share}
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
