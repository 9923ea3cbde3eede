package person

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Person is who someone is, as the API shows it.
type Person struct {
	Email     string    `json:"email" doc:"Address, as typed for the newest of the access links."`
	Name      *string   `json:"name" doc:"Name that was set, else that of the newest submission; null if there is none."`
	OwnName   bool      `json:"name_is_set" doc:"Whether the name was set, and does not follow submissions."`
	Company   *string   `json:"company_domain" doc:"Domain of the address; null for providers of free mailboxes."`
	Status    string    `json:"status" doc:"One of the account's open_statuses and closed_statuses, or a word that was one when it was set. The first of open_statuses if none was set."`
	Closed    bool      `json:"closed" doc:"Whether the status is one of closed_statuses."`
	Note      *string   `json:"note" doc:"Note; null for none."`
	UpdatedAt *api.Time `json:"updated_at" doc:"When name, status or note was last changed; null for never."`
}

type personInput struct {
	ID uuid.UUID `path:"access_link_id" doc:"Id of an access link of the person."`
}

func (p *Persons) get(ctx context.Context, in *personInput) (*api.Answer[Person], error) {
	var row store.GetProfileRow
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = profile(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get person: %w", err)
	}
	return api.OK(personOf(&row)).At(row.Revision), nil
}

// profile returns who is behind an access link, or the problem that there is no such link.
func profile(ctx context.Context, tx pgx.Tx, link uuid.UUID) (store.GetProfileRow, error) {
	row, err := store.New(tx).GetProfile(ctx, store.GetProfileParams{AccountID: auth.From(ctx).AccountID,
		AccessLinkID: link})
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("access link")
	}
	if err != nil {
		return row, fmt.Errorf("read profile: %w", err)
	}
	return row, nil
}

func personOf(row *store.GetProfileRow) Person {
	shown := Person{
		Email: row.Email, OwnName: row.OwnName != nil, Status: row.Status,
		Closed: slices.Contains(row.ClosedStatuses, row.Status), Note: row.Note, UpdatedAt: api.OptionalTime(row.UpdatedAt),
	}
	if row.Name != "" {
		shown.Name = &row.Name
	}
	if company := email.Company(row.Email); company != "" {
		shown.Company = &company
	}
	return shown
}

type updatePersonInput struct {
	personInput
	api.Precondition
	Body changedPerson
}

type changedPerson struct {
	Name   api.Change[string] `json:"name" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Name; null for that of the newest submission."`
	Status api.Change[string] `json:"status" required:"false" minLength:"1" maxLength:"40" doc:"One of the account's open_statuses and closed_statuses; null for the first of open_statuses."`
	Note   api.Change[string] `json:"note" required:"false" format:"text" minLength:"1" maxLength:"10000" doc:"Note; null removes it."`
}

func (p *Persons) update(ctx context.Context, in *updatePersonInput) (*api.Answer[Person], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	auth.RecordCreated(ctx, in.ID)
	b, owner := in.Body, auth.From(ctx).AccountID
	var row store.GetProfileRow
	err = p.deps.Postgres.Account(ctx, owner, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if err := q.HoldAccessLink(ctx, in.ID); err != nil { // an erasure waits, and then removes the profile as well
			return fmt.Errorf("hold access link: %w", err)
		}
		if row, err = profile(ctx, tx, in.ID); err != nil {
			return err
		}
		if !api.Matches(row.Revision, revisions) {
			return problem.Stale("person")
		}
		if b == (changedPerson{}) {
			return nil
		}
		if err := checkStatus(&row, b.Status.Value); err != nil {
			return err
		}
		saved, err := q.SaveProfile(ctx, store.SaveProfileParams{
			AccountID: owner, EmailKey: row.EmailKey, Revisions: revisions,
			SetName: b.Name.Given, Name: trimmed(b.Name.Value),
			SetStatus: b.Status.Given, Status: b.Status.Value, SetNote: b.Note.Given, Note: b.Note.Value,
		})
		if err != nil {
			return fmt.Errorf("save profile: %w", err)
		}
		if saved == 0 {
			return problem.Stale("person")
		}
		row, err = profile(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update person: %w", err)
	}
	return api.OK(personOf(&row)).At(row.Revision), nil
}

// checkStatus returns the problem of a status that is none of the account's words.
func checkStatus(row *store.GetProfileRow, status *string) error {
	words := slices.Concat(row.OpenStatuses, row.ClosedStatuses)
	if status == nil || *status == row.Status || slices.Contains(words, *status) {
		return nil
	}
	return problem.Invalid(problem.Field{Field: "status", Message: "must be one of " + strings.Join(words, ", ")})
}

func trimmed(text *string) *string {
	if text == nil {
		return nil
	}
	short := strings.TrimSpace(*text)
	return &short
}
