package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/query/report"
)

// Names of the API that are known.
type (
	metricName    string
	dimensionName string
	orderName     string
	intervalName  string
	compareName   string
	deviceName    string
)

// EnumValues implements jsonschema.Enum.
func (metricName) EnumValues() []string { return report.Metrics() }

// EnumValues implements jsonschema.Enum.
func (dimensionName) EnumValues() []string { return report.Dimensions() }

// EnumValues implements jsonschema.Enum.
func (orderName) EnumValues() []string {
	names := report.Metrics()
	for _, name := range report.Metrics() {
		names = append(names, "-"+name)
	}
	return names
}

// EnumValues implements jsonschema.Enum.
func (intervalName) EnumValues() []string {
	return []string{string(report.Hour), string(report.Day), string(report.Week), string(report.Month)}
}

// EnumValues implements jsonschema.Enum.
func (compareName) EnumValues() []string { return []string{"previous"} }

// EnumValues implements jsonschema.Enum.
func (deviceName) EnumValues() []string { return report.Devices() }

// Question is a question of metrics.
type Question struct {
	ID          *string         `json:"id" required:"false" nullable:"false" maxLength:"100" doc:"Your name for the query; the answer repeats it."`
	Metrics     []metricName    `json:"metrics" required:"false" nullable:"false" minItems:"1" maxItems:"20" doc:"What to count. Required, unless the body has queries."`
	From        string          `json:"from" required:"false" minLength:"1" maxLength:"40" doc:"Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before its end."`
	To          string          `json:"to" required:"false" minLength:"1" maxLength:"40" doc:"End of the range, exclusive. Default: the end of today."`
	Timezone    string          `json:"timezone" required:"false" minLength:"1" maxLength:"64" doc:"IANA time zone of dates and intervals. Default: UTC."`
	Interval    intervalName    `json:"interval" required:"false" doc:"Group by calendar units. Weeks begin on Monday. Intervals without data are included."`
	Dimensions  []dimensionName `json:"dimensions" required:"false" nullable:"false" maxItems:"2" doc:"Group by the values of at most two dimensions."`
	Filters     *Values         `json:"filters" required:"false" nullable:"false" doc:"Count only what has one of the given values in each dimension."`
	Exclude     *Values         `json:"exclude" required:"false" nullable:"false" doc:"Exclude everything with one of the values in any dimension."`
	People      *PeopleFilter   `json:"people" required:"false" nullable:"false" doc:"Count only what people did whom GET /analytics/readers lists with these parameters, for the range and, where they have one value, the same filters. Only with metrics of reading and downloading. compare counts the same people in the period before. status and field need the scope leads."`
	IncludeBots bool            `json:"include_bots" required:"false" doc:"Count bots as well."`
	Compare     compareName     `json:"compare" required:"false" doc:"Also return the numbers of the preceding period with as many calendar units."`
	OrderBy     orderName       `json:"order_by" required:"false" doc:"One of the metrics; - before it puts the highest first. Default: the first metric, highest first."`
	Limit       int             `json:"limit" required:"false" minimum:"1" maximum:"1000" default:"100" doc:"Number of values with a separate row. All others share one more row, other."`
}

// Values are values of dimensions. Null stands for none.
type Values struct {
	LeadMagnetID  []uuid.UUID  `json:"lead_magnet_id" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	GenericLinkID []*uuid.UUID `json:"generic_link_id" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	AccessLinkID  []uuid.UUID  `json:"access_link_id" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	EmailDomain   []*string    `json:"email_domain" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"255"`
	Page          []*int64     `json:"page" required:"false" nullable:"false" minItems:"1" maxItems:"1000" minimum:"1" maximum:"1000000"`
	MagnetVersion []int64      `json:"magnet_version" required:"false" nullable:"false" minItems:"1" maxItems:"1000" minimum:"0" maximum:"2147483647"`
	ReferrerHost  []*string    `json:"referrer_host" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	UTMSource     []*string    `json:"utm_source" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	UTMMedium     []*string    `json:"utm_medium" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	UTMCampaign   []*string    `json:"utm_campaign" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	UTMContent    []*string    `json:"utm_content" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	UTMTerm       []*string    `json:"utm_term" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048"`
	PageURL       []*string    `json:"page_url" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"2048" doc:"Host and path of a page that was viewed, such as acme.example/pricing.html."`
	Device        []deviceName `json:"device" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	Browser       []*string    `json:"browser" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"64" doc:"Such as Chrome or Safari."`
	OS            []*string    `json:"os" required:"false" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"64" doc:"Such as Windows or iOS."`
	Country       []*string    `json:"country" required:"false" nullable:"false" minItems:"1" maxItems:"1000" pattern:"^[A-Z]{2}$" patternDescription:"two capital letters, such as DE" doc:"Two-letter codes, such as DE."`
	Language      []*string    `json:"language" required:"false" nullable:"false" minItems:"1" maxItems:"1000" pattern:"^[a-z]{2,3}$" patternDescription:"two or three small letters, such as de" doc:"Two- or three-letter codes, such as de."`
	EventType     []eventType  `json:"event_type" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	Bot           []bool       `json:"bot" required:"false" nullable:"false" minItems:"1" maxItems:"1000"`
	Weekday       []int64      `json:"weekday" required:"false" nullable:"false" minItems:"1" maxItems:"1000" minimum:"1" maximum:"7" doc:"1 is Monday."`
	HourOfDay     []int64      `json:"hour_of_day" required:"false" nullable:"false" minItems:"1" maxItems:"1000" minimum:"0" maximum:"23"`
}

// conditions returns the values of each dimension that has some, in the order of the fields.
func (v *Values) conditions() (list []report.Condition) {
	if v == nil {
		return nil
	}
	fields := reflect.ValueOf(v).Elem()
	for field, values := range fields.Fields() {
		if values.IsNil() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		c := report.Condition{Dimension: name}
		for i := range values.Len() {
			c.Values = append(c.Values, conditionValue(values.Index(i)))
		}
		list = append(list, c)
	}
	return list
}

// conditionValue returns a value as report.Condition has it.
func conditionValue(value reflect.Value) any {
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return nil
		}
		value = value.Elem()
	}
	switch v := value.Interface().(type) {
	case uuid.UUID:
		return v.String()
	case bool, int64:
		return v
	}
	return value.String()
}

// Questions is one question, or several of one state of the data.
type Questions struct {
	Question
	Queries []Question `json:"queries" required:"false" nullable:"false" minItems:"1" maxItems:"20" doc:"Several queries, answered from one snapshot. No other field may be given with it."`
}

type queryInput struct{ Body Questions }

// questions returns the questions, and what comes before the names of their fields.
func (b *Questions) questions() (list []Question, paths []string, err error) {
	if b.Queries == nil {
		return []Question{b.Question}, []string{""}, nil
	}
	var wrong []problem.Field
	single := reflect.ValueOf(b.Question)
	for field, value := range single.Fields() {
		if !value.IsZero() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			wrong = append(wrong,
				problem.Field{Field: name, Message: "must not be given together with queries: put it into each of them"})
		}
	}
	if len(wrong) > 0 {
		return nil, nil, problem.Invalid(wrong...)
	}
	for i := range b.Queries {
		paths = append(paths, "queries["+strconv.Itoa(i)+"].")
	}
	return b.Queries, paths, nil
}

func names[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, name := range list {
		texts[i] = string(name)
	}
	return texts
}

// question returns the question as package report has it.
func (q *Question) question() report.Question {
	return report.Question{
		Metrics: names(q.Metrics), From: q.From, To: q.To, Timezone: q.Timezone, Interval: report.Interval(q.Interval),
		Dimensions: names(q.Dimensions),
		Filters:    q.Filters.conditions(), Exclude: q.Exclude.conditions(),
		IncludeBots: q.IncludeBots, Compare: q.Compare != "",
		OrderBy: string(q.OrderBy), Limit: q.Limit,
	}
}

func (q *Query) answerQuestions(ctx context.Context, in *queryInput) (*api.Answer[Answers], error) {
	list, paths, err := in.Body.questions()
	if err != nil {
		return nil, err
	}
	questions := make([]report.Question, len(list))
	for i := range list {
		questions[i] = list[i].question()
	}
	if err := q.narrowPeople(ctx, list, questions, paths); err != nil {
		return nil, err
	}
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := q.reports.Answer(ctx, auth.From(ctx).AccountID, questions, paths)
	if tooLarge, ok := errors.AsType[*report.TooLargeError](err); ok {
		return nil, problem.Invalid(problem.Field{Field: tooLarge.Field, Message: tooLarge.Message})
	}
	if err != nil {
		return nil, err
	}
	if err := q.nameLinks(ctx, found); err != nil {
		return nil, err
	}
	answers := Answers{Data: make([]QuestionAnswer, len(found))}
	for i := range found {
		answers.Data[i] = presentAnswer(list[i].ID, &found[i], asOf)
	}
	return api.OK(answers), nil
}

// nameLinks labels generic links by what the account calls them, where it does.
func (q *Query) nameLinks(ctx context.Context, answers []report.Answer) error {
	var ids []uuid.UUID
	for i := range answers {
		if slices.Contains(answers[i].Dimensions, "generic_link_id") {
			for id := range answers[i].Labels {
				ids = append(ids, uuid.MustParse(id)) // which the report read
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	account := auth.From(ctx).AccountID
	var names []store.NamesOfLinksRow
	if err := q.postgres.Account(ctx, account, func(tx pgx.Tx) (err error) {
		names, err = store.New(tx).NamesOfLinks(ctx, store.NamesOfLinksParams{AccountID: account, IDs: ids})
		return err
	}); err != nil {
		return fmt.Errorf("read names of links: %w", err)
	}
	for i := range answers {
		for _, n := range names {
			if _, shown := answers[i].Labels[n.ID.String()]; shown {
				answers[i].Labels[n.ID.String()] = n.Name
			}
		}
	}
	return nil
}

// questionExample is shown in the description of the API, and sent by the tests of the contract.
var questionExample = map[string]any{
	"id": "by-day", "metrics": []string{"readers", "finish_rate"}, "from": "2026-10-01", "to": "2026-11-01",
	"timezone": "Europe/Berlin", "interval": "day",
	"dimensions": []string{"utm_source"}, "filters": map[string]any{"device": []string{"mobile", "desktop"}},
	"compare": "previous", "order_by": "-readers", "limit": 10,
}
