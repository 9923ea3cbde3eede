package link

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/picture"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

func (l *Links) registerThumbnail(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "upload-generic-link-thumbnail", Method: "PUT", Path: path + "/{id}/thumbnail", Scope: auth.Write, Tag: tag,
		Summary: "Set the thumbnail of a generic link to an uploaded picture",
		Description: "The page shows the picture instead of the document's first page, and thumbnail_url is its address. The body is the " +
			"picture itself (PNG, JPEG, WebP, or the first image of a GIF; at most 5 MiB), or a form (multipart/form-data) with " +
			"the picture in the part named file. The picture is re-encoded with at most 960 × 1600 pixels, and metadata of the file is removed.",
		Body:    picture.Rules().Describe(),
		Answers: map[string]*jsonschema.Schema{"application/json": api.SchemaOf[GenericLink](a)},
		Timeout: picture.ReceiveTimeout,
		Errors:  []problem.Code{problem.UnsupportedMediaType, problem.PayloadTooLarge, problem.ValidationError},
	}, l.putThumbnail)
	api.Register(a, api.Operation{
		ID: "delete-generic-link-thumbnail", Method: "DELETE", Path: path + "/{id}/thumbnail", Scope: auth.Write, Tag: tag,
		Status:      http.StatusNoContent,
		Summary:     "Remove the thumbnail of a generic link",
		Description: "The page shows the document's first page again. The request succeeds even if there is no thumbnail.",
	}, l.deleteThumbnail)
}

func (l *Links) putThumbnail(w http.ResponseWriter, r *http.Request, in *idInput) error {
	ctx, account := r.Context(), auth.From(r.Context()).AccountID
	// Look first, so that no one sends a picture to learn that there is nothing to send it to.
	err := l.deps.Postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		_, err := Get(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("set thumbnail: %w", err)
	}
	pictures, err := l.deps.Thumbnailer.ReceiveThumbnail(w, r)
	if err != nil {
		return err
	}
	var row store.GenericLink
	var views map[uuid.UUID]int64
	err = l.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) (err error) {
		if err := clearThumbnail(ctx, tx, in); err != nil {
			return err
		}
		shown, err := pictures.StoreForLink(ctx, tx, account, in.ID)
		if err != nil {
			return err
		}
		q := store.New(tx)
		if row, err = q.SetLinkThumbnail(ctx, store.SetLinkThumbnailParams{ID: in.ID, ThumbnailPicture: &shown}); err != nil {
			return err
		}
		views, err = q.GenericLinkCounts(ctx, row)
		return err
	})
	if err != nil {
		return fmt.Errorf("set thumbnail: %w", err)
	}
	link, err := l.fromRow(row, views[row.ID], auth.From(ctx))
	if err != nil {
		return fmt.Errorf("set thumbnail: %w", err)
	}
	return api.WriteJSON(w, http.StatusOK, nil, link)
}

func (l *Links) deleteThumbnail(ctx context.Context, in *idInput) (*api.Answer[api.Empty], error) {
	err := l.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		if err := clearThumbnail(ctx, tx, in); err != nil {
			return err
		}
		_, err := store.New(tx).SetLinkThumbnail(ctx, store.SetLinkThumbnailParams{ID: in.ID})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remove thumbnail: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

// clearThumbnail takes a link, so that of two uploads at once one replaces the other, and removes
// the pictures that were uploaded for it.
func clearThumbnail(ctx context.Context, tx pgx.Tx, in *idInput) error {
	q := store.New(tx)
	_, err := q.TakeLink(ctx, in.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.Missing("generic link")
	}
	if err != nil {
		return fmt.Errorf("take generic link: %w", err)
	}
	if err := q.DeletePicturesOfLink(ctx, in.ID); err != nil {
		return fmt.Errorf("remove pictures: %w", err)
	}
	return nil
}

// thumbnailURL returns the picture that was set for a link, or nil.
func (l *Links) thumbnailURL(row store.GenericLink) *string {
	if row.ThumbnailPicture == nil {
		return row.ThumbnailURL
	}
	url := l.deps.Site + *row.ThumbnailPicture
	return &url
}

// keepsThumbnail reports whether a change asks for the picture that the link shows already: then
// the client sent back what it had read.
func (l *Links) keepsThumbnail(ctx context.Context, tx pgx.Tx, in *updateInput) (bool, error) {
	asked := in.Body.ThumbnailURL.Value
	if asked == nil {
		return false, nil
	}
	row, err := Get(ctx, tx, in.ID)
	if err != nil {
		return false, err
	}
	if row.ThumbnailURL != nil {
		return false, nil
	}
	shown, err := l.show(ctx, tx, row)
	return err == nil && shown.ThumbnailURL != nil && *shown.ThumbnailURL == *asked, err
}
