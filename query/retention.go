package query

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/report"
)

// cohortInterval is the name of an interval that readers are put together by.
type cohortInterval string

// EnumValues implements jsonschema.Enum.
func (cohortInterval) EnumValues() []string {
	return []string{string(report.Day), string(report.Week), string(report.Month)}
}

type retentionInput struct {
	LeadMagnetID uuid.UUID      `query:"lead_magnet_id" required:"true" doc:"Lead magnet whose readers are reported. An unknown one has no readers."`
	By           cohortInterval `query:"by" default:"week" doc:"Interval of the cohorts and of the returns. Weeks begin on Monday."`
	Timezone     string         `query:"timezone" default:"UTC" maxLength:"64" doc:"IANA time zone of dates and intervals."`
	From         string         `query:"from" maxLength:"40" doc:"Only readers who first read at or after this time: a date of the time zone, or an RFC 3339 time."`
	To           string         `query:"to" maxLength:"40" doc:"Only readers who first read before this time."`
	narrowInput
}

// Return is an interval in which readers of a cohort may have read again.
type Return struct {
	After   int     `json:"after" minimum:"1" doc:"Number of intervals after the interval of the first page view."`
	Time    string  `json:"time" format:"date-time" doc:"Start of the interval, with its offset."`
	Partial bool    `json:"partial,omitzero" required:"false" doc:"true: the interval is not over."`
	Readers int64   `json:"readers" doc:"Readers of the cohort with a page view in the interval."`
	Rate    float64 `json:"rate" doc:"readers divided by the size of the cohort."`
}

// Cohort are the readers who first read in one interval.
type Cohort struct {
	Cohort   string   `json:"cohort" format:"date-time" doc:"Start of the interval in which they first read, with its offset."`
	Partial  bool     `json:"partial,omitzero" required:"false" doc:"true: the period cuts the interval, or it is not over."`
	Size     int64    `json:"size" doc:"Number of readers whose first page view is in the interval. All access links of an address are one reader."`
	Returned []Return `json:"returned" nullable:"false" doc:"Every later interval that has begun, with zero if no one returned."`
}

// RetentionReport is the answer about readers who return.
type RetentionReport struct {
	Data         []Cohort `json:"data" nullable:"false" doc:"The cohorts that have readers, earliest first."`
	ExcludedBots int64    `json:"excluded_bots" doc:"Page views of bots in the period, which are excluded."`
	AsOf         api.Time `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
}

// Timeless implements api.TimelessBody.
func (r RetentionReport) Timeless() any {
	r.AsOf = api.Time{}
	return r
}

func (q *Query) retentionReport(ctx context.Context, in *retentionInput) (*api.Answer[RetentionReport], error) {
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := q.reports.Retention(ctx, auth.From(ctx).AccountID, report.RetentionQuestion{
		LeadMagnetID: in.LeadMagnetID, By: report.Interval(in.By), Timezone: in.Timezone,
		From: in.From, To: in.To, AsOf: asOf,
		Narrowed: in.narrowed(),
	})
	if err != nil {
		return nil, parameterError(err)
	}
	answer := RetentionReport{Data: make([]Cohort, len(found.Cohorts)),
		ExcludedBots: found.ExcludedBots, AsOf: api.TimeOf(asOf)}
	for i, c := range found.Cohorts {
		shown := Cohort{Cohort: c.Start.Format(time.RFC3339), Partial: c.Partial, Size: c.Readers,
			Returned: make([]Return, len(c.Returns))}
		for j, r := range c.Returns {
			shown.Returned[j] = Return{r.After, r.Start.Format(time.RFC3339), r.Partial, r.Readers,
				float64(r.Readers) / float64(c.Readers)}
		}
		answer.Data[i] = shown
	}
	return api.OK(answer), nil
}

// parameterError is the problem of a parameter that asks for too much.
func parameterError(err error) error {
	if tooLarge, ok := errors.AsType[*report.TooLargeError](err); ok {
		return problem.Parameter(problem.Field{Field: tooLarge.Field, Message: tooLarge.Message})
	}
	return err
}
