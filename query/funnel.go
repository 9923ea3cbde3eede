package query

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/report"
)

type funnelInput struct {
	LeadMagnetID  *uuid.UUID `query:"lead_magnet_id" doc:"Only this lead magnet. For an unknown one, the numbers are zero."`
	GenericLinkID *uuid.UUID `query:"generic_link_id" doc:"Only this generic link. Access links created through the API have none."`
	UTMSource     *string    `query:"utm_source" maxLength:"2048" doc:"Only views and submissions with this utm_source. Access links created through the API have none."`
	UTMMedium     *string    `query:"utm_medium" maxLength:"2048" doc:"Likewise."`
	UTMCampaign   *string    `query:"utm_campaign" maxLength:"2048" doc:"Likewise."`
	UTMContent    *string    `query:"utm_content" maxLength:"2048" doc:"Likewise."`
	UTMTerm       *string    `query:"utm_term" maxLength:"2048" doc:"Likewise."`
	From          *time.Time `query:"from" doc:"Only views, submissions and first openings at or after this time (ISO 8601)."`
	To            *time.Time `query:"to" doc:"Only views, submissions and first openings before this time (ISO 8601). Later actions of these people also count."`
}

// stepName is the name of a step of a funnel.
type stepName string

// EnumValues implements jsonschema.Enum.
func (stepName) EnumValues() []string { return report.Steps() }

// FunnelStep is a step of a funnel.
type FunnelStep struct {
	Step          stepName `json:"step" doc:"Name of the step."`
	Count         int64    `json:"count" doc:"Number that took the step, including access links created through the API and first opened in the period."`
	FromForm      int64    `json:"from_form" doc:"Number that took the step without those: views of landing pages, and submissions."`
	Rate          *float64 `json:"rate" doc:"from_form divided by that of the previous step. finished and downloaded are both divided by opened."`
	TotalRate     *float64 `json:"total_rate" doc:"from_form divided by that of link_view."`
	MedianSeconds *float64 `json:"median_seconds" doc:"Median time since the previous step, for submissions that took both. For finished and downloaded, the time since opened. Null for link_view and submission."`
}

// FunnelReport is the answer about a funnel.
type FunnelReport struct {
	Data         []FunnelStep `json:"data" nullable:"false" doc:"The steps in their order."`
	ExcludedBots int64        `json:"excluded_bots" doc:"Views and events of bots in the period, which are excluded."`
	AsOf         api.Time     `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
}

// Timeless implements api.TimelessBody.
func (f FunnelReport) Timeless() any {
	f.AsOf = api.Time{}
	return f
}

func (in *funnelInput) filters() (list []report.Condition) {
	add := func(dimension string, value any) {
		list = append(list, report.Condition{Dimension: dimension, Values: []any{value}})
	}
	for _, id := range []struct {
		name  string
		value *uuid.UUID
	}{{"lead_magnet_id", in.LeadMagnetID}, {"generic_link_id", in.GenericLinkID}} {
		if id.value != nil {
			add(id.name, id.value.String())
		}
	}
	for _, text := range []struct {
		name  string
		value *string
	}{
		{"utm_source", in.UTMSource}, {"utm_medium", in.UTMMedium}, {"utm_campaign", in.UTMCampaign},
		{"utm_content", in.UTMContent}, {"utm_term", in.UTMTerm},
	} {
		if text.value != nil {
			add(text.name, *text.value)
		}
	}
	return list
}

func (q *Query) funnelReport(ctx context.Context, in *funnelInput) (*api.Answer[FunnelReport], error) {
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return nil, problem.Parameter(problem.Field{Field: "from", Message: "must not be after to"})
	}
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := q.reports.Funnel(ctx, auth.From(ctx).AccountID,
		report.FunnelQuestion{Filters: in.filters(), From: in.From, To: in.To})
	if err != nil {
		return nil, err
	}
	answer := FunnelReport{Data: make([]FunnelStep, len(found.Steps)),
		ExcludedBots: found.ExcludedBots, AsOf: api.TimeOf(asOf)}
	for i, s := range found.Steps {
		answer.Data[i] = FunnelStep{stepName(s.Name), s.Count, s.FromForm, s.Rate, s.TotalRate, s.Median}
	}
	return api.OK(answer), nil
}
