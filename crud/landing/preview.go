package landing

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/link"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// previewTime is how long a preview works.
const previewTime = time.Hour

// previewPurpose is the purpose of the grants that previews are opened with.
const previewPurpose = "previews of landing pages"

type previewInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
}

// Preview is the address of a preview as the API shows it.
type Preview struct {
	URL       string   `json:"url" doc:"Full URL of the preview. Anyone with it can see the page, even while the link is not active. Nothing done there is counted or stored."`
	ExpiresAt api.Time `json:"expires_at" doc:"When the URL stops working as a preview."`
}

func (l *Landing) registerPreview(a *api.API) {
	api.Register(a, api.Operation{
		ID: "preview-generic-link", Method: "POST", Path: "/api/v1/generic-links/{id}/preview",
		Scope: auth.Write, Tag: "Generic links",
		Summary:     "Create a URL that shows the page of a generic link without counting",
		Description: "For owners who preview their own page: views and forms are neither counted nor stored. The URL works for an hour.",
	}, l.makePreview)
}

func (l *Landing) makePreview(ctx context.Context, in *previewInput) (*api.Answer[Preview], error) {
	var row store.GenericLink
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = link.Get(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	ends := l.deps.Now().Add(previewTime).Truncate(time.Second)
	return api.OK(Preview{
		URL: l.deps.Site + web.LandingPath(row.Slug) + "?" +
			url.Values{"preview": {l.deps.Tokens.Grant(previewPurpose, row.ID[:], nil, ends)}}.Encode(),
		ExpiresAt: api.TimeOf(ends),
	}), nil
}

// tried returns the offer of a preview as it would be with what its owner types: the parameters
// that are there take the place of the link's fields of these names. Nothing of it is stored.
func (o offer) tried(typed url.Values) offer {
	g := &o.GenericLink
	for name, field := range map[string]**string{
		"title": &g.Title, "description": &g.Description, "button_text": &g.ButtonText, "consent_text": &g.ConsentText,
		"privacy_url": &g.PrivacyURL, "redirect_url": &g.RedirectURL,
	} {
		if !typed.Has(name) {
			continue
		}
		*field = nil
		if text := typed.Get(name); strings.TrimSpace(text) != "" {
			*field = &text
		}
	}
	if language := locale.Language(typed.Get("language")); slices.Contains(locale.Languages(), language) {
		o.PageLanguage = (*string)(&language)
	}
	for name, field := range map[string]*bool{
		"collect_name": &g.CollectName, "require_verification": &g.RequireVerification,
		"show_contents": &g.ShowContents, "show_pages": &g.ShowPages, "show_readers": &g.ShowReaders,
	} {
		if typed.Has(name) {
			*field = typed.Get(name) == "true"
		}
	}
	return o
}
