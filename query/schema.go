package query

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
	"lodestone/query/report"
)

// Names of the schema.
type (
	metricKind    string
	dimensionType string
	unitName      string
)

// EnumValues implements jsonschema.Enum.
func (metricKind) EnumValues() []string { return report.MetricKinds() }

// EnumValues implements jsonschema.Enum.
func (dimensionType) EnumValues() []string { return report.DimensionTypes() }

// EnumValues implements jsonschema.Enum.
func (unitName) EnumValues() []string { return []string{string(milliseconds)} }

const milliseconds unitName = "ms"

// Metric describes a metric of questions.
type Metric struct {
	Name        metricName      `json:"name" doc:"Name of the metric."`
	Description string          `json:"description" doc:"What it counts."`
	Kind        metricKind      `json:"kind" doc:"sum: rows add up to totals. distinct: two rows may count the same thing. rate: a quotient of two numbers. quantile: a quantile of times."`
	Unit        *unitName       `json:"unit" doc:"Null for numbers and rates."`
	Nullable    bool            `json:"nullable" doc:"Whether it is null if there is nothing to compute it from; other metrics are zero then."`
	Dimensions  []dimensionName `json:"dimensions" nullable:"false" doc:"Dimensions that it can be grouped and filtered by."`
}

// Dimension describes a dimension of questions, which is a filter as well.
type Dimension struct {
	Name     dimensionName `json:"name" doc:"Name of the dimension, in dimensions, filters and exclude."`
	Type     dimensionType `json:"type" doc:"Type of its values."`
	Nullable bool          `json:"nullable" doc:"Whether null is a value."`
	Values   []string      `json:"values" nullable:"false" doc:"All values; empty if they are not known in advance."`
	Minimum  *int          `json:"minimum" doc:"Lowest number that can be given; null for other types."`
	Maximum  *int          `json:"maximum" doc:"Highest number that can be given; null for other types."`
	Requires *string       `json:"requires" doc:"Field that a query with it must set to true; null if none."`
	Metrics  []metricName  `json:"metrics" nullable:"false" doc:"Metrics that can be grouped and filtered by it."`
}

// QuestionLimits bound a question.
type QuestionLimits struct {
	Queries    int `json:"queries" doc:"Questions in one request."`
	Metrics    int `json:"metrics" doc:"Metrics of a question."`
	Dimensions int `json:"dimensions" doc:"Dimensions of a question."`
	Values     int `json:"values" doc:"Values of a filter."`
	Limit      int `json:"limit" doc:"Maximum limit: rows of an interval without the row other."`
	Intervals  int `json:"intervals" doc:"Intervals of a range."`
	Rows       int `json:"rows" doc:"Rows of an answer."`
}

// QuestionSchema tells what can be asked of POST /api/v1/analytics/query.
type QuestionSchema struct {
	Metrics    []Metric       `json:"metrics" nullable:"false" doc:"All metrics."`
	Dimensions []Dimension    `json:"dimensions" nullable:"false" doc:"All dimensions."`
	Intervals  []intervalName `json:"intervals" nullable:"false" doc:"Calendar units to group by."`
	Limits     QuestionLimits `json:"limits" doc:"Maximum numbers."`
}

func (q *Query) questionSchema(context.Context, *struct{}) (*api.Answer[QuestionSchema], error) {
	described := report.Describe()
	s := QuestionSchema{
		Intervals: typed[intervalName](intervalName("").EnumValues()),
		Limits: QuestionLimits{
			Queries: maxItems[Questions]("Queries"), Metrics: maxItems[Question]("Metrics"),
			Dimensions: maxItems[Question]("Dimensions"),
			Values:     maxItems[Values]("Device"), Limit: report.MaxLimit, Intervals: report.MaxIntervals, Rows: report.MaxRows,
		},
	}
	for _, m := range described.Metrics {
		shown := Metric{metricName(m.Name), m.Description, metricKind(m.Kind), nil, m.Nullable,
			typed[dimensionName](m.Dimensions)}
		if m.IsTime {
			shown.Unit = new(milliseconds)
		}
		s.Metrics = append(s.Metrics, shown)
	}
	for _, d := range described.Dimensions {
		shown := Dimension{Name: dimensionName(d.Name), Type: dimensionType(d.Type), Nullable: d.Nullable,
			Metrics: typed[metricName](d.Metrics)}
		if d.NeedsBots {
			shown.Requires = new("include_bots")
		}
		shown.Values, shown.Minimum, shown.Maximum = allowedValues(d.Name)
		s.Dimensions = append(s.Dimensions, shown)
	}
	return api.OK(s), nil
}

// allowedValues returns what the filter of a dimension takes, if it does not take all values of its
// type.
func allowedValues(dimension string) (values []string, minimum, maximum *int) {
	for field := range reflect.TypeFor[Values]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != dimension {
			continue
		}
		if enum, ok := reflect.TypeAssert[jsonschema.Enum](reflect.Zero(field.Type.Elem())); ok {
			values = enum.EnumValues()
		}
		return values, number(field.Tag.Get("minimum")), number(field.Tag.Get("maximum"))
	}
	return nil, nil, nil
}

// maxItems returns how many elements a field of a body may have.
func maxItems[T any](field string) int {
	f, _ := reflect.TypeFor[T]().FieldByName(field)
	return *number(f.Tag.Get("maxItems"))
}

func number(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

func typed[T ~string](names []string) []T {
	list := make([]T, len(names))
	for i, name := range names {
		list[i] = T(name)
	}
	return list
}
