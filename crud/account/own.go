package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/store"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/problem"
)

// Account is an account as the API shows it to itself.
type Account struct {
	ID     uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Name   string    `json:"name" doc:"Name of the account."`
	Plan   Plan      `json:"plan" enum:"free,pro,team" doc:"Plan of the account."`
	Limits Allowance `json:"limits" doc:"How many it may have."`
	Usage  Usage     `json:"usage" doc:"How many it has."`

	NotifyEmail *string  `json:"notify_email" doc:"Where mails about new leads, and webhooks that were disabled, go; null if nobody is told."`
	Notify      string   `json:"notify" enum:"each,daily,none" doc:"When that is: for each lead, once a day (after 05:00 UTC, about the day before), or never. Of webhooks that were disabled you are told at once, unless it is none."`
	BrandColor  *string  `json:"brand_color" doc:"Accent of the account's pages, as #rrggbb; null for ours. Where it would not read well it is made darker or lighter."`
	CreatedAt   api.Time `json:"created_at" doc:"When it was created."`
}

// Allowance is how many things an account may have; nil is any number.
type Allowance struct {
	GenericLinks *int64 `json:"generic_links" doc:"Generic links that the plan allows; null for any number."`
	Keys         int64  `json:"keys" doc:"Working API keys."`
}

// Usage is how many things an account has.
type Usage struct {
	LeadMagnets  int64 `json:"lead_magnets" doc:"Lead magnets."`
	GenericLinks int64 `json:"generic_links" doc:"Generic links, active or not."`
	AccessLinks  int64 `json:"access_links" doc:"Access links, active or not."`
	Keys         int64 `json:"keys" doc:"Working API keys."`
}

type noInput struct{}

func (o *Own) get(ctx context.Context, _ *noInput) (*api.Answer[Account], error) {
	var shown Account
	err := o.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).OwnAccount(ctx)
		if err != nil {
			return err
		}
		shown, err = o.show(ctx, tx, row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get account: %w", err)
	}
	return api.OK(shown), nil
}

func (o *Own) show(ctx context.Context, tx pgx.Tx, row store.Account) (Account, error) {
	usage, err := store.New(tx).CountUsage(ctx)
	if err != nil {
		return Account{}, err
	}
	shown := Account{
		ID: row.ID, Name: row.Name, Plan: Plan(row.Plan), CreatedAt: api.TimeOf(row.CreatedAt),
		NotifyEmail: row.NotifyEmail, Notify: row.Notify, BrandColor: row.BrandColor,
		Limits: Allowance{Keys: maxKeys},
		Usage: Usage{
			LeadMagnets: usage.LeadMagnets, GenericLinks: usage.GenericLinks, AccessLinks: usage.AccessLinks, Keys: usage.Keys,
		},
	}
	if limit, limited := o.limits.GenericLinks(shown.Plan); limited {
		shown.Limits.GenericLinks = &limit
	}
	return shown, nil
}

type updateInput struct {
	Body changedAccount
}

type changedAccount struct {
	NotifyEmail api.Change[string] `json:"notify_email" required:"false" format:"email" maxLength:"254" doc:"Where mails about new leads, and webhooks that were disabled, go; null tells nobody."`
	Notify      *string            `json:"notify" required:"false" nullable:"false" enum:"each,daily,none" doc:"When that is."`
	BrandColor  api.Change[string] `json:"brand_color" required:"false" pattern:"^#[0-9a-fA-F]{6}$" patternDescription:"a colour, such as #2f5bd0" doc:"Accent of the account's pages; null for ours."`
}

func (o *Own) update(ctx context.Context, in *updateInput) (*api.Answer[Account], error) {
	b := in.Body
	if b.NotifyEmail.Value != nil {
		if _, err := email.Parse(*b.NotifyEmail.Value); err != nil {
			return nil, problem.Invalid(problem.Field{Field: "notify_email", Message: err.Error()})
		}
	}
	if b.BrandColor.Value != nil {
		lower := strings.ToLower(*b.BrandColor.Value)
		b.BrandColor.Value = &lower
	}
	var shown Account
	err := o.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).UpdateAccount(ctx, store.UpdateAccountParams{
			Notify: b.Notify, SetNotifyEmail: b.NotifyEmail.Given, NotifyEmail: b.NotifyEmail.Value,
			SetBrandColor: b.BrandColor.Given, BrandColor: b.BrandColor.Value,
		})
		if err != nil {
			return err
		}
		shown, err = o.show(ctx, tx, row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change account: %w", err)
	}
	return api.OK(shown), nil
}
