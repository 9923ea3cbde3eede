package query

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
	"lodestone/query/report"
)

// Answers are the answers to questions, in their order.
type Answers struct {
	Data []QuestionAnswer `json:"data" nullable:"false"`
}

// QuestionAnswer is the answer to a question.
type QuestionAnswer struct {
	ID           *string           `json:"id" doc:"The id of the query."`
	Rows         []reportRow       `json:"rows" nullable:"false" doc:"By time, then by order_by. The row other has all values without a separate row. Its distinct counts are counted, so rows need not add up to totals."`
	Totals       reportTotals      `json:"totals" doc:"The metrics over the whole range, counted rather than summed."`
	ExcludedBots int64             `json:"excluded_bots" doc:"Events and views of bots that match the range and the filters, which are excluded."`
	AsOf         api.Time          `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
	Labels       map[string]string `json:"labels" doc:"Names of the ids in the rows: titles of lead magnets, and names, titles or slugs of generic links."`
}

func presentAnswer(id *string, a *report.Answer, asOf time.Time) QuestionAnswer {
	shown := QuestionAnswer{
		ID: id, Rows: make([]reportRow, len(a.Rows)), Totals: reportTotals{a}, ExcludedBots: a.ExcludedBots,
		AsOf: api.TimeOf(asOf), Labels: a.Labels,
	}
	for i := range a.Rows {
		shown.Rows[i] = reportRow{a, &a.Rows[i]}
	}
	return shown
}

// reportRow is a row whose fields depend on the question.
type reportRow struct {
	answer *report.Answer
	row    *report.Row
}

// MarshalJSONTo implements json.MarshalerTo.
func (r reportRow) MarshalJSONTo(to *jsontext.Encoder) error {
	w := &objectWriter{to: to}
	w.token(jsontext.BeginObject)
	if !r.row.Time.IsZero() {
		w.field("time", r.row.Time.Format(time.RFC3339))
	}
	if r.row.Partial {
		w.field("partial", true)
	}
	if r.row.Other {
		w.field("other", true)
	} else {
		for i, value := range r.row.Values {
			w.field(r.answer.Dimensions[i], value)
		}
	}
	w.numbers(r.answer, r.row.Numbers, !r.row.Time.IsZero())
	w.token(jsontext.EndObject)
	return w.err
}

// JSONSchema implements jsonschema.Provider.
func (reportRow) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return jsonschema.AnyObject(map[string]any{
		"time": "2026-10-01T00:00:00+02:00", "utm_source": "newsletter", "readers": 12, "finish_rate": 0.5,
		"previous": map[string]any{"readers": 9, "finish_rate": 0.25},
	})
}

// reportTotals are the metrics over the whole range.
type reportTotals struct{ answer *report.Answer }

// MarshalJSONTo implements json.MarshalerTo.
func (t reportTotals) MarshalJSONTo(to *jsontext.Encoder) error {
	w := &objectWriter{to: to}
	w.token(jsontext.BeginObject)
	w.numbers(t.answer, t.answer.Totals, false)
	w.token(jsontext.EndObject)
	return w.err
}

// JSONSchema implements jsonschema.Provider.
func (reportTotals) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return jsonschema.AnyObject(map[string]any{"readers": 180, "finish_rate": 0.47})
}

// objectWriter writes an object, and keeps the first error.
type objectWriter struct {
	to  *jsontext.Encoder
	err error
}

func (w *objectWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.to.WriteToken(t)
	}
}

func (w *objectWriter) field(name string, value any) {
	w.token(jsontext.String(name))
	if w.err == nil {
		w.err = json.MarshalEncode(w.to, value)
	}
}

// numbers writes the metrics, and those compared with as an object of their own. An interval that
// the time before does not have is null.
func (w *objectWriter) numbers(a *report.Answer, n report.Numbers, ofInterval bool) {
	for i, name := range a.Metrics {
		w.field(name, n.Now[i])
	}
	switch {
	case n.Previous != nil:
		w.token(jsontext.String("previous"))
		w.token(jsontext.BeginObject)
		for i, name := range a.Metrics {
			w.field(name, n.Previous[i])
		}
		w.token(jsontext.EndObject)
	case ofInterval && a.Compared:
		w.field("previous", nil)
	}
}
