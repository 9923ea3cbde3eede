package user

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/crud/proof"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

const (
	invitationsPath = "/api/v1/invitations"
	// InvitationPath is where the mail's link leads: package signin has the page.
	InvitationPath = "/dashboard/sign-in/invitation/"

	invitationLasts = 7 * 24 * time.Hour
	maxInvitations  = 100 // of an account, waiting

	givesRoles = "The key needs every scope of the role: all of them for an owner; read, write, leads and webhooks for an editor; read and leads for an analyst."
)

// Mails go to addresses that anyone may enter.
func invitationsOf() ratelimit.Rule {
	return ratelimit.Rule{Name: "invitations-of", Quota: 50, Window: 24 * time.Hour}
}

func invitationsTo() ratelimit.Rule {
	return ratelimit.Rule{Name: "invitations-to", Quota: 5, Window: 24 * time.Hour}
}

// Invitation is one that was not accepted yet.
type Invitation struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Email     string    `json:"email" doc:"Address that the invitation was mailed to. Only someone who reads its mail can accept it."`
	Role      auth.Role `json:"role" doc:"Role of the person in the account."`
	CreatedAt api.Time  `json:"created_at" doc:"When it was created or last sent again."`
	ExpiresAt api.Time  `json:"expires_at" doc:"When it expires: after seven days."`
}

func (p *People) registerInvitations(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-invitations", Method: "GET", Path: invitationsPath, Scope: auth.People, Tag: tag,
		Summary: "List the pending invitations, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, p.listInvitations)
	api.Register(a, api.Operation{
		ID: "get-invitation", Method: "GET", Path: invitationsPath + "/{id}", Scope: auth.People, Tag: tag,
		Summary: "Get an invitation",
	}, p.getInvitation)
	api.Register(a, api.Operation{
		ID: "create-invitation", Method: "POST", Path: invitationsPath, Scope: auth.People, Tag: tag, Status: 201,
		Summary:     "Invite someone to the account",
		Description: "A mail with a link goes to the address. The link works once, for seven days. Inviting an address again sends another mail, invalidates the first link, and keeps the id. " + givesRoles,
		BodyExample: map[string]any{"email": "ada@example.com", "role": "editor"},
		Errors:      []problem.Code{problem.Conflict, problem.LimitReached, problem.RateLimited},
	}, p.invite)
	api.Register(a, api.Operation{
		ID: "delete-invitation", Method: "DELETE", Path: invitationsPath + "/{id}", Scope: auth.People, Tag: tag, Status: 204,
		Summary: "Withdraw an invitation",
	}, p.deleteInvitation)
}

func (p *People) listInvitations(ctx context.Context, in *listInput) (*api.Answer[api.Page[Invitation]], error) {
	var total int64
	var waiting []Invitation
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountInvitations(ctx); err != nil {
			return err
		}
		rows, err := q.ListInvitations(ctx, store.ListInvitationsParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			waiting = append(waiting, invitationOf(store.GetInvitationRow(row)))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return api.List(ctx, in.Paging, waiting, total), nil
}

func invitationOf(row store.GetInvitationRow) Invitation {
	return Invitation{row.ID, row.Email, auth.Role(row.Role), api.TimeOf(row.CreatedAt), api.TimeOf(row.ExpiresAt)}
}

type invitationInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the invitation."`
}

func (p *People) getInvitation(ctx context.Context, in *invitationInput) (*api.Answer[Invitation], error) {
	var row store.GetInvitationRow
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetInvitation(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("invitation")
	}
	if err != nil {
		return nil, fmt.Errorf("get invitation: %w", err)
	}
	return api.OK(invitationOf(row)), nil
}

type inviteInput struct {
	Body newInvitation
}

type newInvitation struct {
	Email string    `json:"email" format:"email" maxLength:"254" doc:"Address to invite."`
	Role  auth.Role `json:"role" doc:"What the person will be: owner, editor or analyst."`
}

func (p *People) invite(ctx context.Context, in *inviteInput) (*api.Answer[Invitation], error) {
	address, err := email.Parse(in.Body.Email)
	if err == nil && !p.deps.Mail.Reaches(ctx, address.Text) {
		err = mail.ErrUnreachable
	}
	if err != nil {
		return nil, problem.Invalid(problem.Field{Field: "email", Message: err.Error()})
	}
	if err := auth.From(ctx).MayGive(in.Body.Role); err != nil {
		return nil, err
	}
	caller := auth.From(ctx).AccountID
	if err := p.mayInvite(ctx, caller, address); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("invite: %w", err)
	}
	secret := proof.Random()
	var row store.InviteRow
	err = p.deps.Postgres.Account(ctx, caller, func(tx pgx.Tx) error {
		if _, err := account.LockPlan(ctx, tx); err != nil { // one at a time, so that two at once cannot pass the limit
			return err
		}
		q := store.New(tx)
		if there, err := q.IsPerson(ctx, address.Key); err != nil {
			return err
		} else if there {
			return problem.New(problem.Conflict, "This address is one of the account's people already.")
		}
		if waiting, err := q.CountInvitations(ctx); err != nil {
			return err
		} else if waiting >= maxInvitations {
			return problem.New(problem.LimitReached,
				fmt.Sprintf("An account can have %d invitations: withdraw some.", maxInvitations))
		}
		own, err := q.OwnAccount(ctx)
		if err != nil {
			return err
		}
		row, err = q.Invite(ctx, store.InviteParams{
			ID: id, AccountID: caller, Email: address.Text, EmailKey: address.Key, Role: string(in.Body.Role),
			SecretHash: proof.Hash(secret),
			Lasts:      pgtype.Interval{Microseconds: invitationLasts.Microseconds(), Valid: true},
		})
		if err != nil {
			return err
		}
		auth.RecordCreated(ctx, row.ID)
		return p.deps.Mail.Send(ctx, tx, mail.Message{
			Kind: mail.KindInvitation, AccountID: caller, To: address.Text, URL: p.deps.Site + InvitationPath + secret,
			Account: own.Name, Role: string(in.Body.Role), ExpiresAt: row.ExpiresAt,
			Language: locale.Or(own.Language, ""), Timezone: own.Timezone,
		})
	})
	if err != nil {
		return nil, fmt.Errorf("invite: %w", err)
	}
	return api.Created(invitationsPath+"/"+row.ID.String(), invitationOf(store.GetInvitationRow(row))), nil
}

// mayInvite counts an invitation by an account to an address.
func (p *People) mayInvite(ctx context.Context, by uuid.UUID, to email.Address) error {
	wait, err := p.deps.Limiter.Take(ctx, invitationsOf(), by.String())
	if err == nil && wait == 0 {
		wait, err = p.deps.Limiter.Take(ctx, invitationsTo(), to.Mailbox())
	}
	if err != nil {
		return fmt.Errorf("invite: %w", err)
	}
	if wait > 0 {
		return problem.New(problem.RateLimited,
			"Too many invitations were mailed. Wait for the time that Retry-After gives, in seconds.").RetryAfter(wait)
	}
	return nil
}

func (p *People) deleteInvitation(ctx context.Context, in *invitationInput) (*api.Answer[api.Empty], error) {
	err := p.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		deleted, err := store.New(tx).DeleteInvitation(ctx, in.ID)
		if err == nil && deleted == 0 {
			return problem.Missing("invitation")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take invitation back: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
