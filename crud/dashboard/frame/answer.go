package frame

import (
	"errors"
	"math"
	"slices"
	"time"

	"lodestone/pkg/chart"
)

// Query is a question of POST /api/v1/analytics/query. The period of the visit is its range.
type Query struct {
	ID         string           `json:"id"`
	Metrics    []string         `json:"metrics"`
	From       string           `json:"from"`
	To         string           `json:"to"`
	Timezone   string           `json:"timezone"`
	Interval   string           `json:"interval,omitempty"`
	Dimensions []string         `json:"dimensions,omitempty"`
	Filters    map[string][]any `json:"filters,omitempty"`
	People     map[string]any   `json:"people,omitempty"` // filters of people
	Compare    string           `json:"compare,omitempty"`
	OrderBy    string           `json:"order_by,omitempty"`
	Limit      int              `json:"limit,omitempty"`
	// Alone leaves out the time before, which takes as long to count.
	Alone bool `json:"-"`
	// IncludeBots counts bots like people; needed for the dimension bot.
	IncludeBots bool `json:"include_bots,omitempty"`
}

// Answer is the answer to a question.
type Answer struct {
	ID           string            `json:"id"`
	Rows         []Row             `json:"rows"`
	Totals       Row               `json:"totals"`
	ExcludedBots int64             `json:"excluded_bots"`
	AsOf         time.Time         `json:"as_of"`
	Labels       map[string]string `json:"labels"`
}

// Row is one row of an answer: its interval, its values of dimensions and its numbers.
type Row map[string]any

// Number returns a metric, or a gap for null.
func (r Row) Number(metric string) float64 {
	if n, ok := r[metric].(float64); ok {
		return n
	}
	return chart.Gap()
}

// Known returns a metric, or nil for null.
func (r Row) Known(metric string) *float64 {
	if n := r.Number(metric); !math.IsNaN(n) {
		return &n
	}
	return nil
}

// Before returns a metric of the time that the answer compares with, or a gap.
func (r Row) Before(metric string) float64 {
	if previous, ok := r["previous"].(map[string]any); ok {
		return Row(previous).Number(metric)
	}
	return chart.Gap()
}

// Time returns the start of the row's interval.
func (r Row) Time() time.Time {
	text, _ := r["time"].(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{} // the row has no interval
	}
	return t
}

// Value returns the value of a dimension, and nil for none.
func (r Row) Value(dimension string) any { return r[dimension] }

// Text returns the value of a dimension as a text; "" for null.
func (r Row) Text(dimension string) string {
	switch value := r[dimension].(type) {
	case string:
		return value
	case float64:
		return chart.Exact(value)
	default:
		return ""
	}
}

// Is reports whether the row has a property: partial, other.
func (r Row) Is(property string) bool {
	is, _ := r[property].(bool)
	return is
}

// Batch are answers of one state of the data.
type Batch struct {
	answers map[string]Answer
	AsOf    time.Time
	// Bots are the events and views of bots that were left out of the first answer.
	Bots int64
}

// Of returns the answer to a question.
func (b Batch) Of(id string) Answer { return b.answers[id] }

// QueryPath is where questions are asked.
const QueryPath = "/api/v1/analytics/query"

// Answers are those of one request.
type Answers struct {
	Data []Answer `json:"data"`
}

var errCount = errors.New("the API answered a different number of queries than were sent")

// Ask asks questions about the visit's period, in one request.
// One whose metrics the filters leave out has no rows.
func (v *Visit) Ask(queries ...Query) (Batch, error) {
	for i := range queries {
		q := &queries[i]
		v.Filters.narrow(q)
		q.From, q.To, q.Timezone = v.Period.From(), v.Period.To(), v.Period.Zone.String()
		if v.Period.Compare && !q.Alone && v.Period.Name != allTime {
			q.Compare = "previous"
		}
	}
	queries = slices.DeleteFunc(queries, func(q Query) bool { return len(q.Metrics) == 0 })
	if len(queries) == 0 {
		return Batch{}, nil
	}
	got, err := Send[Answers](v, "POST", QueryPath, map[string]any{"queries": queries}, nil)
	if err != nil {
		return Batch{}, err
	}
	return BatchOf(got, len(queries))
}

// BatchOf returns the answers to so many questions.
func BatchOf(got Answers, questions int) (Batch, error) {
	if len(got.Data) != questions || questions == 0 {
		return Batch{}, errCount
	}
	b := Batch{answers: map[string]Answer{}, AsOf: got.Data[0].AsOf, Bots: got.Data[0].ExcludedBots}
	for _, a := range got.Data {
		b.answers[a.ID] = a
	}
	return b, nil
}

// Series are a metric's values over the intervals of an answer, and those before. A rate above 1 is
// a gap.
func (a Answer) Series(metric string) (now, before []float64) {
	shown := func(n float64) float64 {
		if shares[metric] && n > 1 {
			return chart.Gap()
		}
		return n
	}
	for _, r := range a.Rows {
		now = append(now, shown(r.Number(metric)))
		before = append(before, shown(r.Before(metric)))
	}
	return now, before
}

// Unfinished reports whether the last interval is not over.
func (a Answer) Unfinished() bool {
	return len(a.Rows) > 0 && a.Rows[len(a.Rows)-1].Is("partial")
}

// Times are the labels of the intervals of an answer.
func (a Answer) Times(p Period) (list []string) {
	for _, r := range a.Rows {
		list = append(list, p.Label(r.Time()))
	}
	return list
}

// First is the day on which the first interval of an answer begins; "" without intervals.
func (a Answer) First(p Period) string {
	if len(a.Rows) == 0 {
		return ""
	}
	return a.Rows[0].Time().In(p.Zone).Format(dateForm)
}

// HasAny reports whether a number of a row is above zero.
func (r Row) HasAny(metrics ...string) bool {
	for _, m := range metrics {
		if n := r.Number(m); n > 0 && !math.IsNaN(n) {
			return true
		}
	}
	return false
}
