package account

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/store"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
)

// Account is an account as the API shows it to itself.
type Account struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Name      string    `json:"name" doc:"Name of the account."`
	Plan      Plan      `json:"plan" enum:"free,pro,team" doc:"Plan of the account."`
	Limits    Allowance `json:"limits" doc:"How many it may have."`
	Usage     Usage     `json:"usage" doc:"How many it has."`
	CreatedAt api.Time  `json:"created_at" doc:"When it was created."`
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
	var row store.Account
	var usage store.CountUsageRow
	err := o.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if row, err = q.OwnAccount(ctx); err != nil {
			return err
		}
		usage, err = q.CountUsage(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get account: %w", err)
	}
	shown := Account{
		ID: row.ID, Name: row.Name, Plan: Plan(row.Plan), CreatedAt: api.TimeOf(row.CreatedAt),
		Limits: Allowance{Keys: maxKeys},
		Usage: Usage{
			LeadMagnets: usage.LeadMagnets, GenericLinks: usage.GenericLinks, AccessLinks: usage.AccessLinks, Keys: usage.Keys,
		},
	}
	if limit, limited := o.limits.GenericLinks(shown.Plan); limited {
		shown.Limits.GenericLinks = &limit
	}
	return api.OK(shown), nil
}
