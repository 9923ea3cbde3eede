package link

import (
	"context"
	"fmt"
	"html"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Tracking lets a page elsewhere count its views as those of a generic link.
type Tracking struct {
	TrackingToken string  `json:"tracking_token" doc:"Token with which views of the link's page are sent to the collector. It never changes and is not secret, because pages contain it."`
	Script        *string `json:"script" doc:"HTML for your own page, which counts the page's views as the link's. null if the collector's address is not configured."`
	Pixel         *string `json:"pixel" doc:"HTML that does the same without scripts. null if script is null."`
}

func (l *Links) registerTracking(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-generic-link-tracking", Method: "GET", Path: path + "/{id}/tracking", Scope: auth.Read, Tag: tag,
		Summary:     "Get the HTML that counts views of your own page as a link's",
		Description: "Paste the value of script into your own landing page. Its views then count in the link's view_count.",
	}, l.getTracking)
}

func (l *Links) getTracking(ctx context.Context, in *idInput) (*api.Answer[Tracking], error) {
	var row store.GenericLink
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = Get(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get tracking of generic link: %w", err)
	}
	// Without the file's version, which a view of a page has not: so the token stays the same.
	found := Tracking{TrackingToken: l.deps.Tokens.Sign(token.Claims{
		AccountID: row.AccountID, LeadMagnetID: row.LeadMagnetID, GenericLinkID: row.ID,
	})}
	if l.deps.Collector != "" {
		base := html.EscapeString(l.deps.Collector)
		script := fmt.Sprintf(`<script async src="%s/v1/beacon.js" data-token="%s"></script>`, base, found.TrackingToken)
		pixel := fmt.Sprintf(`<img src="%s/v1/pixel.gif?t=%s" width="1" height="1" alt="">`, base, found.TrackingToken)
		found.Script, found.Pixel = &script, &pixel
	}
	return api.OK(found), nil
}
