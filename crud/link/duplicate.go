package link

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/crud/picture"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

func (l *Links) registerDuplicate(a *api.API) {
	api.Register(a, api.Operation{
		ID: "duplicate-generic-link", Method: "POST", Path: path + "/{id}/duplicate", Scope: auth.Write, Tag: tag,
		Status: 201, Tagged: true,
		Summary: "Create a generic link with the settings of another",
		Description: "The new link has every setting, a slug of its own, no submissions and no views. It is active, even if the other " +
			"is closed or archived; an expires_at that has passed is left out. The lead magnet must be active.",
		Errors: []problem.Code{problem.LimitReached, problem.Conflict},
	}, l.duplicate)
}

func (l *Links) duplicate(ctx context.Context, in *idInput) (*api.Answer[GenericLink], error) {
	caller := auth.From(ctx)
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("duplicate generic link: %w", err)
	}
	auth.RecordCreated(ctx, id)
	var made, whole GenericLink
	var revision int64
	err = l.deps.Postgres.Account(ctx, caller.AccountID, func(tx pgx.Tx) error {
		row, err := l.copyOf(ctx, tx, in.ID, id)
		if err != nil {
			return err
		}
		revision = row.Revision
		if made, err = l.show(ctx, tx, row); err != nil {
			return err
		}
		whole, err = made.whole(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("duplicate generic link: %w", err)
	}
	return api.Created(path+"/"+id.String(), made).At(revision).Of(whole), nil
}

// copyOf adds a link with the settings of another, and the picture that was uploaded for it.
func (l *Links) copyOf(ctx context.Context, tx pgx.Tx, from, id uuid.UUID) (row store.GenericLink, err error) {
	q := store.New(tx)
	source, err := Get(ctx, tx, from)
	if err != nil {
		return row, err
	}
	offered, err := q.ShareMagnet(ctx, source.LeadMagnetID)
	if err != nil {
		return row, fmt.Errorf("read lead magnet: %w", err)
	}
	if !offered.IsActive {
		return row, problem.New(problem.Conflict, inactiveMagnet)
	}
	if err := account.Reserve(ctx, tx, l.plans, account.GenericLinks, 1); err != nil {
		return row, err
	}
	title := offered.Title
	if source.Title != nil {
		title = *source.Title
	}
	if err := insertCopy(ctx, q, from, id, title); err != nil {
		return row, err
	}
	if source.ThumbnailPicture == nil {
		return q.GetLink(ctx, id)
	}
	thumbnail, err := picture.CopyForLink(ctx, tx, source.AccountID, from, id)
	if err != nil {
		return row, err
	}
	return q.SetLinkThumbnail(ctx, store.SetLinkThumbnailParams{ID: id, ThumbnailPicture: &thumbnail})
}

// insertCopy adds the copy of a link under the first free slug of a title.
func insertCopy(ctx context.Context, q *store.Queries, from, id uuid.UUID, title string) error {
	for _, slug := range slugsOf(title) {
		copied, err := q.CopyLink(ctx, store.CopyLinkParams{Source: from, ID: id, Slug: slug})
		if err != nil {
			return fmt.Errorf("copy generic link: %w", err)
		}
		if copied {
			return nil
		}
	}
	return errNoSlug
}
