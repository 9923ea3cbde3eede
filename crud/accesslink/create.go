package accesslink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type createInput struct {
	Body newAccessLink
}

type newAccessLink struct {
	LeadMagnetID uuid.UUID `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet that the link opens."`
	Email        string    `json:"email" format:"email" maxLength:"254" doc:"Email address of the recipient."`
	MaxViews     *int32    `json:"max_views" required:"false" minimum:"1" maximum:"10000" doc:"How many times it can be opened; null for no limit."`
	ExpiresAt    *string   `json:"expires_at" required:"false" format:"date-time" doc:"When it expires (ISO 8601, in the future); null for never."`
}

// params turns a body into what is stored, or returns what the schema cannot tell.
func (b newAccessLink) params(now time.Time) (store.InsertAccessLinkParams, error) {
	p := store.InsertAccessLinkParams{LeadMagnetID: b.LeadMagnetID, MaxViews: b.MaxViews}
	var wrong []problem.Field
	address, err := email.Parse(b.Email)
	if err != nil {
		wrong = append(wrong, problem.Field{Field: "email", Message: err.Error()})
	}
	p.Email, p.EmailKey = address.Text, address.Key
	p.ExpiresAt = expiry(b.ExpiresAt, now, &wrong)
	if wrong != nil {
		return p, problem.Invalid(wrong...)
	}
	return p, nil
}

// expiry reads expires_at, which may be nil, and appends what the schema cannot tell.
func expiry(text *string, now time.Time, wrong *[]problem.Field) *time.Time {
	if text == nil {
		return nil
	}
	at, err := jsonschema.ParseTime(*text)
	switch {
	case err != nil: // the schema's check let it pass, so it does not come to this
		*wrong = append(*wrong, problem.Field{Field: "expires_at", Message: err.Error()})
	case !at.After(now):
		*wrong = append(*wrong, problem.Field{Field: "expires_at", Message: "must be in the future"})
	}
	return &at
}

func (l *Links) create(ctx context.Context, in *createInput) (*api.Answer[AccessLink], error) {
	params, err := in.Body.params(time.Now())
	if err != nil {
		return nil, err
	}
	params.AccountID = auth.From(ctx).AccountID
	if params.ID, err = uuid.NewV7(); err != nil {
		return nil, fmt.Errorf("create access link: %w", err)
	}
	auth.RecordCreated(ctx, params.ID)
	t, err := NewToken(l.deps.Tokens, params.ID)
	if err != nil {
		return nil, err
	}
	params.TokenHash, params.TokenSealed, params.TokenKey = t.Hash, t.Sealed, t.Key
	var row store.GetAccessLinkRow
	err = l.deps.Postgres.Account(ctx, params.AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		magnet, err := shareMagnet(ctx, q, params.LeadMagnetID)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.InvalidLeadMagnet, "lead_magnet_id names no lead magnet of this account.",
				problem.Field{Field: "lead_magnet_id", Message: "names no lead magnet of this account"})
		}
		if err != nil {
			return err
		}
		if err := account.Reserve(ctx, tx, l.plans, account.AccessLinks, 1); err != nil {
			return err
		}
		row.FileVersion = magnet.FileVersion
		if row.AccessLink, err = q.InsertAccessLink(ctx, params); err != nil {
			return err
		}
		return l.announce(ctx, tx, params.AccountID, l.fromRow(row, store.Counts{}))
	})
	if err != nil {
		return nil, fmt.Errorf("create access link: %w", err)
	}
	return api.Created(path+"/"+params.ID.String(), l.fromRow(row, store.Counts{})).At(row.AccessLink.Revision), nil
}

// shareMagnet returns the lead magnet that links are to be created for, and locks it until the
// transaction ends. pgx.ErrNoRows says that there is none.
func shareMagnet(ctx context.Context, q *store.Queries, id uuid.UUID) (store.LeadMagnet, error) {
	magnet, err := q.ShareMagnet(ctx, id)
	if err != nil {
		return magnet, fmt.Errorf("read lead magnet: %w", err)
	}
	if !magnet.IsActive {
		return magnet, problem.New(problem.Conflict,
			"The lead magnet is not active: activate it before creating links to it.")
	}
	return magnet, nil
}
