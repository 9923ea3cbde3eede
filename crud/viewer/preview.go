package viewer

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/accesslink"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type previewInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the access link."`
}

// LinkPreview is a URL for an owner's own look.
type LinkPreview struct {
	URL       string   `json:"url" doc:"Shows the document without counting a view, even if the link does not open. Anyone with this URL can use it."`
	ExpiresAt api.Time `json:"expires_at" doc:"When the URL stops working as a preview. After that it works like a visitor's URL."`
}

func (v *Viewer) registerPreview(a *api.API) {
	api.Register(a, api.Operation{
		ID: "preview-access-link", Method: "POST", Path: "/api/v1/access-links/{id}/preview", Scope: auth.Write,
		Also: []auth.Scope{auth.Leads}, Tag: "Access links",
		Summary: "Create a URL that shows the document of an access link without counting",
		Description: "For owners who preview what a recipient sees: no session, view or download is counted or recorded. The URL is the " +
			"link's own, and opens it regardless of its limits.",
	}, v.makePreview)
}

func (v *Viewer) makePreview(ctx context.Context, in *previewInput) (*api.Answer[LinkPreview], error) {
	var row store.GetAccessLinkRow
	err := v.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetAccessLink(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("access link")
	}
	if err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	secret, err := accesslink.OpenToken(v.deps.Tokens, row.AccessLink)
	if err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	text, ends := v.deps.Sessions.PreviewToken(row.AccessLink.ID)
	return api.OK(LinkPreview{
		URL:       v.deps.Pages.URL(web.ReadingPath(secret)) + "?" + url.Values{"preview": {text}}.Encode(),
		ExpiresAt: api.TimeOf(ends),
	}), nil
}
