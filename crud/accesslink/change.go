package accesslink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type updateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the access link."`
	api.Precondition
	Body changedAccessLink
}

type changedAccessLink struct {
	MaxViews  api.Change[int32]  `json:"max_views" required:"false" minimum:"1" maximum:"10000" doc:"How many times it can be opened; null for no limit."`
	ExpiresAt api.Change[string] `json:"expires_at" required:"false" format:"date-time" doc:"When it expires (ISO 8601, in the future); null for never."`
	IsActive  *bool              `json:"is_active" required:"false" nullable:"false" doc:"Whether it can be opened."`
}

func (l *Links) update(ctx context.Context, in *updateInput) (*api.Answer[AccessLink], error) {
	b := in.Body
	var wrong []problem.Field
	expiresAt := expiry(b.ExpiresAt.Value, time.Now(), &wrong)
	if wrong != nil {
		return nil, problem.Invalid(wrong...)
	}
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	var row store.GetAccessLinkRow
	var counts store.Counts
	err = l.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		changed := int64(0)
		if b != (changedAccessLink{}) {
			changed, err = store.New(tx).UpdateAccessLink(ctx, store.UpdateAccessLinkParams{
				ID: in.ID, Revisions: revisions, SetMaxViews: b.MaxViews.Given, MaxViews: b.MaxViews.Value,
				SetExpiresAt: b.ExpiresAt.Given, ExpiresAt: expiresAt, IsActive: b.IsActive,
			})
			if err != nil {
				return err
			}
		}
		row, counts, err = read(ctx, tx, in.ID)
		if err == nil && changed == 0 && (b != (changedAccessLink{}) || !api.Matches(row.AccessLink.Revision, revisions)) {
			err = problem.Stale("access link")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update access link: %w", err)
	}
	return api.OK(l.fromRow(row, counts).visibleTo(auth.From(ctx))).At(row.AccessLink.Revision), nil
}

// read returns a link with its counts, or the problem that there is none.
func read(ctx context.Context, tx pgx.Tx, id uuid.UUID) (row store.GetAccessLinkRow, counts store.Counts, err error) {
	q := store.New(tx)
	row, err = q.GetAccessLink(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, counts, problem.Missing("access link")
	}
	if err != nil {
		return row, counts, fmt.Errorf("read access link: %w", err)
	}
	all, err := q.AccessLinkCounts(ctx, id)
	return row, all[id], err
}

type deleteInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the access link."`
	api.Precondition
}

func (l *Links) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	err = l.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		deleted, err := store.New(tx).DeleteAccessLink(ctx, store.DeleteAccessLinkParams{ID: in.ID, Revisions: revisions})
		if err != nil || deleted > 0 {
			return err
		}
		if _, _, err := read(ctx, tx, in.ID); err != nil {
			return err
		}
		return problem.Stale("access link")
	})
	if err != nil {
		return nil, fmt.Errorf("delete access link: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
