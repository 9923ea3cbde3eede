package magnet

import (
	"context"
	"errors"
	"fmt"
	"image"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const (
	pageWidth = 240 // pixels of a picture
	pageBlock = 12  // pages that are rendered at once: a reader starts for each block
	// maxPage is the last page that has a picture.
	maxPage       = 300
	renderTimeout = time.Minute
)

func (m *Magnets) registerPages(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "get-page-picture", Method: "GET", Path: path + "/{id}/pages/{page}/picture", Scope: auth.Read, Tag: tag,
		Summary:     "Get a small picture of a page of a lead magnet",
		Description: "The picture is 240 pixels wide. It is rendered at the first request, which takes a moment, and only for the first 300 pages of stored versions.",
		Answers:     map[string]*jsonschema.Schema{"image/jpeg": jsonschema.Binary(), "image/png": jsonschema.Binary()},
		Timeout:     renderTimeout,
	}, m.pagePicture)
}

type pageInput struct {
	ID      uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	Page    int       `path:"page" minimum:"1" maximum:"300" doc:"Number of the page, from 1."`
	Version *int      `query:"magnet_version" minimum:"1" maximum:"2147483647" doc:"Version of the file; default: the current one."`
}

func (m *Magnets) pagePicture(w http.ResponseWriter, r *http.Request, in *pageInput) error {
	ctx, owner := r.Context(), auth.From(r.Context()).AccountID
	page := int32(in.Page)
	var version *int32
	if in.Version != nil {
		version = new(int32(*in.Version))
	}
	var file store.LeadMagnetFile
	var picture store.PagePictureRow
	missing := problem.New(problem.NotFound, "There is no picture of this page.")
	err := m.deps.Postgres.AccountSnapshot(ctx, owner, func(tx pgx.Tx) (err error) {
		file, err = store.New(tx).FindFile(ctx, store.FindFileParams{ID: in.ID, Version: version})
		if err == nil && page <= file.PageCount {
			picture, err = findPicture(ctx, tx, file, page)
		}
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows) && file.Version == 0, err == nil && picture.Bytes == nil:
		return missing
	case errors.Is(err, pgx.ErrNoRows) && file.DiscardedAt != nil:
		return missing
	case errors.Is(err, pgx.ErrNoRows):
		picture, err = m.makePicture(ctx, file, page)
	}
	if err != nil {
		return fmt.Errorf("get picture of page: %w", err)
	}
	if picture.Bytes == nil {
		return missing
	}
	h := w.Header()
	h.Set("Content-Type", picture.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(picture.Bytes)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, max-age=3600")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(picture.Bytes) // a caller that left needs no answer
	}
	return nil
}

func findPicture(ctx context.Context, tx pgx.Tx, f store.LeadMagnetFile, page int32) (store.PagePictureRow, error) {
	return store.New(tx).PagePicture(ctx, store.PagePictureParams{LeadMagnetID: f.LeadMagnetID,
		Version: f.Version, Page: page})
}

// makePicture renders the block of pages that a page is in, and returns that page's picture:
// without bytes if it has none.
func (m *Magnets) makePicture(ctx context.Context, f store.LeadMagnetFile,
	page int32) (found store.PagePictureRow, err error) {
	first := page - (page-1)%pageBlock
	if first != page {
		// If the reader stopped within the block before, it begins with this page.
		err := m.deps.Postgres.AccountSnapshot(ctx, f.AccountID, func(tx pgx.Tx) error {
			_, err := findPicture(ctx, tx, f, first)
			return err
		})
		switch {
		case err == nil:
			first = page
		case !errors.Is(err, pgx.ErrNoRows):
			return found, err
		}
	}
	key := fmt.Sprint(f.LeadMagnetID, f.Version, first)
	_, err, _ = m.rendering.Do(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renderTimeout) // others wait for it as well
		defer cancel()
		return nil, m.renderPages(ctx, f, first, min(pageBlock, f.PageCount-first+1, maxPage-first+1))
	})
	if err != nil {
		return found, err
	}
	err = m.deps.Postgres.AccountSnapshot(ctx, f.AccountID, func(tx pgx.Tx) (err error) {
		found, err = findPicture(ctx, tx, f, page)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return found, nil // the reader did not come so far
	}
	return found, err
}

// renderPages renders pages from a number on, and keeps their pictures.
func (m *Magnets) renderPages(ctx context.Context, f store.LeadMagnetFile, first, count int32) error {
	var pages []*image.RGBA
	err := m.deps.Files.WithCopy(ctx, f, func(temp *os.File) (err error) {
		pages, err = m.deps.Reader.Pages(ctx, f.AccountID, temp, int(first)-1, int(count), pageWidth)
		return err
	})
	if err != nil {
		return fmt.Errorf("render pages: %w", err)
	}
	if len(pages) < int(count) {
		pages = append(pages, nil) // it took too long, and is not tried again
	}
	rows := make([]store.InsertPagePictureParams, len(pages))
	for i, p := range pages {
		rows[i] = store.InsertPagePictureParams{LeadMagnetID: f.LeadMagnetID, Version: f.Version,
			Page: first + int32(i), ContentType: "image/jpeg"}
		if p == nil {
			continue
		}
		if rows[i].ContentType, rows[i].Bytes, err = m.deps.Renderer.Page(ctx, p); err != nil {
			return fmt.Errorf("encode page: %w", err)
		}
	}
	err = m.deps.Postgres.Account(ctx, f.AccountID, func(tx pgx.Tx) error {
		for _, row := range rows {
			if err := store.New(tx).InsertPagePicture(ctx, row); err != nil {
				return fmt.Errorf("store picture of page: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep pictures of pages: %w", err)
	}
	return nil
}
