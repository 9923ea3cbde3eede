// Package user serves the people of an account: who they are, who is invited, and their sessions in
// the dashboard. Package signin lets them in.
package user

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

// Mailer has a mail sent once a transaction commits; it is implemented by mail.Queue.
type Mailer interface {
	Send(ctx context.Context, tx pgx.Tx, m mail.Message) error
	Reaches(ctx context.Context, address string) bool
}

// Deps are the dependencies of people. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Mail     Mailer
	Limiter  *ratelimit.Visitors
	Site     string // public URL without a slash at the end
}

// People serves the people of accounts. It is safe for concurrent use.
type People struct{ deps Deps }

// New returns the people of an installation.
func New(d Deps) *People { return &People{d} }

// User is one of an account's people.
type User struct {
	ID         uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Email      string    `json:"email" doc:"Address that the person signs in with."`
	Role       auth.Role `json:"role" doc:"What the person may do: an owner everything, an editor everything but managing people and keys, an analyst reads."`
	CreatedAt  api.Time  `json:"created_at" doc:"When the person joined the account."`
	LastSeenAt *api.Time `json:"last_seen_at" doc:"When the person last opened a page of the dashboard, accurate to a minute; null for never."`
}

const (
	usersPath = "/api/v1/users"
	tag       = "People"
)

// Register adds the operations.
func (p *People) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-users", Method: "GET", Path: usersPath, Scope: auth.People, Tag: tag,
		Summary: "List the people of the account, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, p.list)
	api.Register(a, api.Operation{
		ID: "get-user", Method: "GET", Path: usersPath + "/{id}", Scope: auth.People, Tag: tag,
		Summary: "Get one of the account's people",
	}, p.get)
	api.Register(a, api.Operation{
		ID: "update-user", Method: "PATCH", Path: usersPath + "/{id}", Scope: auth.People, Tag: tag,
		Summary:     "Change the role of a person",
		Description: "It takes effect within a second. The last owner cannot lose the role. " + givesRoles,
		Errors:      []problem.Code{problem.Conflict},
	}, p.update)
	api.Register(a, api.Operation{
		ID: "remove-user", Method: "DELETE", Path: usersPath + "/{id}", Scope: auth.People, Tag: tag, Status: 204,
		Summary:     "Remove a person from the account",
		Description: "Their sessions end within a second. API keys that they created keep working. The last owner cannot be removed.",
		Errors:      []problem.Code{problem.Conflict},
	}, p.remove)
	p.registerInvitations(a)
	p.registerSessions(a)
	p.registerReports(a)
	p.registerAudit(a)
}

type listInput struct{ api.Paging }

func (p *People) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[User]], error) {
	var total int64
	var people []User
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountPeople(ctx); err != nil {
			return err
		}
		rows, err := q.ListPeople(ctx, store.ListPeopleParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			people = append(people, fromRow(store.GetPersonRow(row)))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	return api.List(ctx, in.Paging, people, total), nil
}

func fromRow(row store.GetPersonRow) User {
	return User{ID: row.ID, Email: row.Email, Role: auth.Role(row.Role), CreatedAt: api.TimeOf(row.CreatedAt),
		LastSeenAt: api.OptionalTime(row.LastSeenAt)}
}

type userInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the person."`
}

func (p *People) get(ctx context.Context, in *userInput) (*api.Answer[User], error) {
	var found User
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		found, err = read(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get person: %w", err)
	}
	return api.OK(found), nil
}

// read returns one of the account's people, or the problem that there is none.
func read(ctx context.Context, tx pgx.Tx, id uuid.UUID) (User, error) {
	row, err := store.New(tx).GetPerson(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, problem.Missing("person")
	}
	if err != nil {
		return User{}, fmt.Errorf("read person: %w", err)
	}
	return fromRow(row), nil
}

type updateInput struct {
	userInput
	Body changedUser
}

type changedUser struct {
	Role auth.Role `json:"role" doc:"What the person may do."`
}

func (p *People) update(ctx context.Context, in *updateInput) (*api.Answer[User], error) {
	if err := auth.From(ctx).MayGive(in.Body.Role); err != nil {
		return nil, err
	}
	var changed User
	err := p.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		if in.Body.Role != auth.Owner {
			if err := keepAnOwner(ctx, tx, in.ID); err != nil {
				return err
			}
		}
		if _, err := store.New(tx).ChangeRole(ctx, store.ChangeRoleParams{UserID: in.ID,
			Role: string(in.Body.Role)}); err != nil {
			return err
		}
		var err error
		changed, err = read(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change person: %w", err)
	}
	return api.OK(changed), nil
}

// keepAnOwner returns a problem if a person is the account's last owner, who stays until another
// one is there. Others that change owners wait for the end of the transaction.
func keepAnOwner(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := account.LockPlan(ctx, tx); err != nil {
		return err
	}
	person, err := read(ctx, tx, id)
	if err != nil || person.Role != auth.Owner {
		return err
	}
	others, err := store.New(tx).CountOtherOwners(ctx, id)
	if err != nil {
		return fmt.Errorf("count owners: %w", err)
	}
	if others == 0 {
		return problem.New(problem.Conflict, "This is the account's last owner. Make someone else an owner first.")
	}
	return nil
}

func (p *People) remove(ctx context.Context, in *userInput) (*api.Answer[api.Empty], error) {
	err := p.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		if err := keepAnOwner(ctx, tx, in.ID); err != nil {
			return err
		}
		_, err := store.New(tx).RemovePerson(ctx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remove person: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
