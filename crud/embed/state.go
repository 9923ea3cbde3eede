package embed

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/link"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// State holds the HTML for an owner's page, and the use of the form there.
type State struct {
	Script            string    `json:"script" doc:"HTML for your own page, which shows the form."`
	AllowedOrigins    []string  `json:"allowed_origins" nullable:"false" doc:"Origins of pages that may show the form. Change them with a PATCH of the link."`
	ContentPolicy     string    `json:"content_security_policy" doc:"Sources that your page's Content-Security-Policy must allow."`
	LastSeenAt        *api.Time `json:"last_seen_at" doc:"When a page of an allowed origin last loaded the form, accurate to a minute; null for never."`
	LastSeenOrigin    *string   `json:"last_seen_origin" doc:"Origin of that page."`
	LastRefusedAt     *api.Time `json:"last_refused_at" doc:"When a page of another origin last asked for the form, accurate to a minute; null for never."`
	LastRefusedOrigin *string   `json:"last_refused_origin" doc:"Origin of that page."`
}

func (f *Forms) registerState(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-generic-link-embed", Method: http.MethodGet, Path: "/api/v1/generic-links/{id}/embed",
		Scope: auth.Read, Tag: "Generic links",
		Summary:     "Get the HTML that shows the form on your own page, and whether it works",
		Description: "Paste the value of script into a page whose origin is among allowed_origins. last_seen_at then shows when the page last loaded the form; last_refused_origin names a missing origin.",
	}, f.state)
}

type stateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
}

func (f *Forms) state(ctx context.Context, in *stateInput) (*api.Answer[State], error) {
	var s State
	err := f.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		source, err := link.Get(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		seen, err := q.GetEmbed(ctx, in.ID)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("read where the form was seen: %w", err)
		}
		language := source.Language
		if language == nil {
			brand, err := q.BrandOfAccount(ctx, source.AccountID)
			if err != nil {
				return fmt.Errorf("read language of account: %w", err)
			}
			language = brand.Language
		}
		// without scripts, no one knows the browser's language
		words := f.catalogue.In(locale.Or(language, "")).Say("embed.get")
		site := html.EscapeString(f.deps.Site)
		s = State{
			Script: fmt.Sprintf(`<script src="%s%s" data-link="%s" async></script><noscript><a href="%s%s">%s</a></noscript>`,
				site, scriptPath, source.Slug, site, web.LandingPath(source.Slug), html.EscapeString(words)),
			AllowedOrigins: source.AllowedOrigins, ContentPolicy: f.policy(),
			LastSeenAt: api.OptionalTime(seen.SeenAt), LastSeenOrigin: seen.SeenOrigin,
			LastRefusedAt: api.OptionalTime(seen.RefusedAt), LastRefusedOrigin: seen.RefusedOrigin,
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("get embedded form: %w", err)
	}
	return api.OK(s), nil
}

// policy returns the directives of a page's policy that the form needs. Its style needs none.
func (f *Forms) policy() string {
	site, collector := web.Origin(f.deps.Site), web.Origin(f.deps.Collector)
	connect := site
	if collector != "" && collector != site {
		connect += " " + collector
	}
	return "script-src " + site + "; connect-src " + connect
}
