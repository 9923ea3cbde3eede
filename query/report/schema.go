package report

import "strings"

// Schema tells what can be asked, derived from what answers it.
type Schema struct {
	Metrics    []MetricSchema
	Dimensions []DimensionSchema
}

// MetricSchema describes a metric.
type MetricSchema struct {
	Name        string
	Description string
	Kind        string   // one of MetricKinds
	IsTime      bool     // in milliseconds
	Nullable    bool     // null where nothing was counted that it could be of
	Dimensions  []string // that it can be divided and filtered by
}

// Kinds of metrics.
const (
	SumKind      = "sum"      // the parts of a range add up
	DistinctKind = "distinct" // parts may count the same thing each
	RateKind     = "rate"     // one number divided by another
	QuantileKind = "quantile"
)

// MetricKinds lists the kinds of metrics.
func MetricKinds() []string { return []string{SumKind, DistinctKind, RateKind, QuantileKind} }

// DimensionSchema describes a dimension, which is a filter as well.
type DimensionSchema struct {
	Name     string
	Type     string // one of DimensionTypes
	Nullable bool   // null is a value: rows may have none
	// NeedsBots says that a question with it must include bots.
	NeedsBots bool
	Metrics   []string // that can be divided and filtered by it
}

// types are the names of the kinds of dimensions.
var types = map[kind]string{textKind: "text", uuidKind: "uuid", numberKind: "number", boolKind: "boolean"}

// DimensionTypes lists the types of dimensions.
func DimensionTypes() []string {
	return []string{types[textKind], types[uuidKind], types[numberKind], types[boolKind]}
}

// descriptions define the metrics; docs/reports.md has them as well.
var descriptions = map[string]string{
	"link_views":           "views of landing pages",
	"visitors":             "distinct visitors of landing pages, by the daily hash of their address; a view without a hash counts as one visitor",
	"submissions":          "forms that were sent",
	"verified":             "submissions by the time they were confirmed, or sent if no confirmation is needed",
	"readers":              "access links with a page view",
	"confirmations":        "submissions whose address was confirmed, by the time of the confirmation",
	"people":               "distinct people with a page view: all access links of an address are one person",
	"people_finished":      "people who viewed the last page of any version",
	"people_downloaded":    "people with a completed download",
	"people_without_form":  "people whose access links were all created through the API",
	"sessions":             "openings with a page view; each counts once in totals",
	"events":               "page views and downloads, started and completed",
	"page_views":           "visits to a page of a document",
	"reading_ms":           "visible time of all page views",
	"downloads_started":    "downloads that were started",
	"downloads":            "downloads that were completed",
	"finished":             "readers who viewed the last page of any version",
	"attentive":            "finished readers who spent 2 s or more, in all visits, on each of at least 60 % of the version's pages",
	"submission_rate":      "submissions / visitors; above 1 if there are more forms than counted visitors",
	"open_rate":            "share of the submissions whose access link has a page view until as_of",
	"finish_rate":          "finished / readers",
	"download_rate":        "readers with a completed download / readers",
	"people_finish_rate":   "people_finished / people",
	"people_download_rate": "people_downloaded / people",
	"median_page_ms":       "median visible time of page views that have one, each at most 10 minutes",
	"p90_page_ms":          "90th percentile of the same times",
}

// Describe returns the schema, in the order of names.
func Describe() Schema {
	var s Schema
	for _, name := range Metrics() {
		m := metrics[name]
		s.Metrics = append(s.Metrics, MetricSchema{
			Name: name, Description: descriptions[name], Kind: m.kind(), IsTime: strings.HasSuffix(name, "_ms"),
			Nullable: m.nullable, Dimensions: m.dimensions(),
		})
	}
	for _, name := range Dimensions() {
		d := dimensions[name]
		shown := DimensionSchema{Name: name, Type: types[d.kind], Nullable: d.optional, NeedsBots: name == "bot"}
		for _, metric := range Metrics() {
			if metrics[metric].can(d) {
				shown.Metrics = append(shown.Metrics, metric)
			}
		}
		s.Dimensions = append(s.Dimensions, shown)
	}
	return s
}

// kind tells how the numbers of parts of a range relate to the number of all of it.
func (m metric) kind() string {
	of := parts[m.parts[0]]
	switch {
	case m.isRate():
		return RateKind
	case m.nullable:
		return QuantileKind
	case of.nested || strings.Contains(of.sql, "uniqExact"):
		return DistinctKind
	}
	return SumKind
}
