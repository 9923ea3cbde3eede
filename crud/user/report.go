package user

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// WeeklyReport is whether one of the account's people gets the weekly report.
type WeeklyReport struct {
	Email   string `json:"email" doc:"Address that the report goes to."`
	Enabled bool   `json:"enabled" doc:"Whether it is sent on Mondays, after 07:00 in the account's time zone. By default, owners get it and others do not."`
}

func (p *People) registerReports(a *api.API) {
	const (
		path  = usersPath + "/{id}/weekly-report"
		whose = "Each person has their own setting. With the scope people, everyone's is accessible."
	)
	api.Register(a, api.Operation{
		ID: "get-weekly-report", Method: "GET", Path: path, Scope: auth.Read, Tag: tag,
		Summary: "Get whether a person gets the weekly report", Description: whose,
	}, p.report)
	api.Register(a, api.Operation{
		ID: "set-weekly-report", Method: "PUT", Path: path, Scope: auth.Read, Tag: tag,
		Summary: "Set whether a person gets the weekly report", Description: whose,
	}, p.setReport)
}

func (p *People) report(ctx context.Context, in *userInput) (*api.Answer[WeeklyReport], error) {
	return p.ofReport(ctx, in.ID, nil)
}

type reportInput struct {
	userInput
	Body changedReport
}

type changedReport struct {
	Enabled bool `json:"enabled" doc:"Whether it is sent."`
}

func (p *People) setReport(ctx context.Context, in *reportInput) (*api.Answer[WeeklyReport], error) {
	return p.ofReport(ctx, in.ID, &in.Body.Enabled)
}

// ofReport returns the setting of a person, after it was set if enabled is not nil.
func (p *People) ofReport(ctx context.Context, person uuid.UUID, enabled *bool) (*api.Answer[WeeklyReport], error) {
	caller := auth.From(ctx)
	if !caller.Has(auth.People) && (caller.UserID == uuid.Nil || caller.UserID != person) {
		return nil, problem.Missing("person")
	}
	var row store.GetWeeklyReportRow
	err := p.deps.Postgres.Account(ctx, caller.AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if enabled != nil {
			if err := q.SetWeeklyReport(ctx, store.SetWeeklyReportParams{UserID: person, Wants: *enabled}); err != nil {
				return err
			}
		}
		row, err = q.GetWeeklyReport(ctx, person)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("person")
	}
	if err != nil {
		return nil, fmt.Errorf("weekly report of a person: %w", err)
	}
	return api.OK(WeeklyReport{row.Email, row.Wants}), nil
}
