package frame

import (
	"math"

	"lodestone/crud/web"
	"lodestone/pkg/chart"
)

// Figure is a number of a screen: what it is called in the API, its exact value, and how people
// read it.
type Figure struct {
	Metric string // word of the API
	Label  string // what people call it; "": the number stands alone
	Value  float64
	Before float64 // of the time that it is compared with; a gap: none
	Format chart.Format
	Define string // definition; "": none
	URL    string // the people and events behind it; "": none

	fewVisitors bool       // it is the rate of forms, and more forms were sent than visitors were counted
	texts       *web.Texts // of the words of its change, and of Why
}

// Figure returns a metric of a row with its label and definition.
func (v *Visit) Figure(r Row, metric string) Figure {
	f := FigureOf(r, metric)
	f.Label, f.Define, f.texts = v.Label(metric), v.Define(metric), v.texts
	return f
}

// FigureOf returns a metric of a row without words.
func FigureOf(r Row, metric string) Figure {
	return Figure{
		Metric: metric, Value: r.Number(metric), Before: r.Before(metric), Format: formatOf(metric),
		fewVisitors: metric == "submission_rate" && r.Number("submissions") > r.Number("visitors"),
	}
}

// Define returns the definition of a metric.
func (v *Visit) Define(metric string) string { return v.Say("metric." + metric + ".means") }

// Label returns what people call a metric.
func (v *Visit) Label(metric string) string { return v.Say("metric." + metric) }

// Short returns a label of one short word, for a line of a chart.
func (v *Visit) Short(metric string) string {
	if short[metric] {
		return v.Say("metric." + metric + ".short")
	}
	return v.Label(metric)
}

// short are the metrics whose label has no room at a line.
var short = map[string]bool{
	"submissions": true, "people_finished": true, "people_finish_rate": true, "people_download_rate": true,
	"page_views": true, "reading_ms": true,
	"submission_rate": true, "median_page_ms": true,
}

// Text is the number with its unit. A rate above 100 % is none: Why says the reason.
func (f Figure) Text() string {
	if f.beyond() {
		return chart.None
	}
	if f.Format == nil {
		return chart.Count(f.Value)
	}
	return f.Format(f.Value)
}

// Exact is the number in full.
func (f Figure) Exact() string { return chart.Exact(f.Value) }

// Compared reports whether there is a number to compare with.
func (f Figure) Compared() bool { return !math.IsNaN(f.Before) }

// Why says why a rate is not shown; "" if it is.
func (f Figure) Why() string {
	if !f.beyond() || f.texts == nil {
		return ""
	}
	return f.texts.Say("frame.beyond")
}

func (f Figure) beyond() bool { return f.fewVisitors || f.IsShare() && f.Value > 1 }

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
	case math.IsNaN(f.Before) || f.texts == nil || f.beyond() || f.IsShare() && f.Before > 1:
		return "", ""
	case math.IsNaN(f.Value):
		return f.texts.Say("frame.change.none_now"), ""
	case f.Value == f.Before:
		return f.texts.Say("frame.change.unchanged"), ""
	case !f.IsShare() && f.Before == 0:
		return f.texts.Say("frame.change.none_before"), ""
	}
	difference, key := f.Value-f.Before, "frame.change.points"
	if f.IsShare() {
		difference = math.Round(difference * 100)
	} else {
		difference, key = math.Round(difference/f.Before*100), "frame.change.percent"
	}
	if difference == 0 {
		return f.texts.Say("frame.change.about"), ""
	}
	sign, judgement, tone := "+", "frame.change.better", "good"
	if difference < 0 {
		sign, judgement, tone = "−", "frame.change.worse", "bad"
	}
	by := f.texts.Say(key, "n", int64(math.Abs(difference)), "sign", sign)
	return f.texts.Say(judgement, "by", by), tone
}

// shares are the metrics that are rates.
var shares = map[string]bool{"submission_rate": true, "open_rate": true, "finish_rate": true, "download_rate": true,
	"people_finish_rate": true, "people_download_rate": true}

// formatOf returns the format of a metric; most are plain numbers.
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
