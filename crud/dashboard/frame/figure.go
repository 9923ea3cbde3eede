package frame

import (
	"math"

	"lodestone/pkg/chart"
)

// Figure is a number of a screen: what it is called in the API, its exact value, and how people read it.
type Figure struct {
	Metric string // word of the API
	Label  string // what people call it; "": the number stands alone
	Value  float64
	Before float64 // of the time that it is compared with; a gap: none
	Format chart.Format
	Define string // definition, from the API; "": none
	URL    string // the people and events behind it; "": none
}

// Text is the number with its unit.
func (f Figure) Text() string {
	if f.Format == nil {
		return chart.Count(f.Value)
	}
	return f.Format(f.Value)
}

// Exact is the number in full.
func (f Figure) Exact() string { return chart.Exact(f.Value) }

// Compared reports whether there is a number to compare with.
func (f Figure) Compared() bool { return !math.IsNaN(f.Before) }

// IsShare reports whether the number is a rate.
func (f Figure) IsShare() bool { return shares[f.Metric] }

// Change is the difference in words: +12 %, better. Rates differ in points of a percentage.
func (f Figure) Change() string {
	words, _ := f.change()
	return words
}

// Tone is good or bad for a change that is, else "".
func (f Figure) Tone() string {
	_, tone := f.change()
	return tone
}

func (f Figure) change() (words, tone string) {
	switch {
	case math.IsNaN(f.Before):
		return "", ""
	case math.IsNaN(f.Value):
		return "none now", ""
	case f.Value == f.Before:
		return "unchanged", ""
	case !f.IsShare() && f.Before == 0:
		return "none before", ""
	}
	difference, unit := f.Value-f.Before, " points"
	if f.IsShare() {
		difference = math.Round(difference * 100)
	} else {
		difference, unit = math.Round(difference/f.Before*100), " %"
	}
	sign, judgement, tone := "+", "better", "good"
	if difference < 0 {
		sign, judgement, tone = "−", "worse", "bad"
	}
	if difference == 0 {
		return "about the same", ""
	}
	if f.IsShare() && math.Abs(difference) == 1 {
		unit = " point"
	}
	return sign + chart.Count(math.Abs(difference)) + unit + ", " + judgement, tone
}

// shares are the metrics that are rates.
var shares = map[string]bool{"submission_rate": true, "open_rate": true, "finish_rate": true, "download_rate": true}

// formats are those of metrics that are no plain numbers.
func formatOf(metric string) chart.Format {
	switch {
	case shares[metric]:
		return chart.Share
	case metric == "reading_ms" || metric == "median_page_ms" || metric == "p90_page_ms":
		return chart.Time
	default:
		return nil
	}
}

// labels are what people call the metrics.
var labels = map[string]string{
	"link_views": "Page views", "visitors": "Visitors", "submissions": "Forms sent", "verified": "Confirmed", "readers": "Readers", "people": "People",
	"sessions": "Sessions", "events": "Events", "page_views": "Pages read", "reading_ms": "Reading time", "downloads_started": "Downloads begun",
	"downloads": "Downloads", "finished": "Read to the end", "attentive": "Read closely", "submission_rate": "Sent the form", "open_rate": "Opened",
	"finish_rate": "Finished", "download_rate": "Downloaded", "median_page_ms": "Time a page", "p90_page_ms": "Long time a page",
}

// Label returns what people call a metric.
func Label(metric string) string {
	if l, ok := labels[metric]; ok {
		return l
	}
	return metric
}

// short are what a line of a chart is called, where the usual label has no room.
var short = map[string]string{
	"submissions": "Forms", "finished": "Finished", "page_views": "Pages", "reading_ms": "Time", "submission_rate": "Sent", "median_page_ms": "Median",
}

// Short returns a label of one short word.
func Short(metric string) string {
	if l, ok := short[metric]; ok {
		return l
	}
	return Label(metric)
}

// Unit tells which numbers can share a scale.
func (f Figure) Unit() string {
	switch {
	case f.IsShare():
		return "share"
	case f.Format != nil:
		return "time"
	default:
		return "count"
	}
}
