package frame

import (
	"lodestone/pkg/chart"
)

// FunnelMetrics returns the metrics that a row needs for Funnel.
func FunnelMetrics() []string {
	return []string{
		"visitors", "submissions", "submission_rate", "verified", "confirmations", "people", "people_without_form",
		"people_finished", "people_finish_rate", "people_downloaded", "people_download_rate",
	}
}

// Funnel is the way from a landing page to the end of a document: the numbers of one row, which
// tiles show as well.
type Funnel struct {
	Steps []chart.Step
	// WithoutForm is how many of the people came by a link of the API, and left out of the rate of
	// their step.
	WithoutForm float64
	MoreForms   bool // more forms were sent than visitors were counted
	MorePeople  bool // more people read by a form's link than forms were sent: some sent theirs before
}

// FunnelOf returns the funnel of a row, with what people call each metric. A rate above 1 is a gap.
func FunnelOf(r Row, name func(metric string) string) Funnel {
	f := Funnel{WithoutForm: r.Number("people_without_form")}
	add := func(metric string, rate float64) (beyond bool) {
		if beyond = rate > 1; beyond {
			rate = chart.Gap()
		}
		f.Steps = append(f.Steps, chart.Step{Name: name(metric), Metric: metric, Count: r.Number(metric),
			Rate: rate, Before: chart.Gap()})
		return beyond
	}
	add("visitors", chart.Gap())
	f.MoreForms = add("submissions", r.Number("submission_rate")) || r.Number("submissions") > r.Number("visitors")
	before := "submissions"
	if r.Confirms() {
		add("verified", share(r.Number("verified"), r.Number("submissions")))
		before = "verified"
	}
	f.MorePeople = add("people", share(r.Number("people")-f.WithoutForm, r.Number(before)))
	add("people_finished", r.Number("people_finish_rate"))
	add("people_downloaded", r.Number("people_download_rate"))
	return f
}

// Confirms reports whether people confirm their addresses, so that forms sent and confirmed are two
// numbers.
func (r Row) Confirms() bool {
	return r.Number("confirmations") > 0 || r.Number("verified") < r.Number("submissions")
}

// share is a gap of nothing.
func share(part, of float64) float64 {
	if !(of > 0) {
		return chart.Gap()
	}
	return part / of
}
