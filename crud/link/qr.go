package link

import (
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/qr"
	"lodestone/pkg/store"
)

func (l *Links) registerCode(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "get-generic-link-qr", Method: "GET", Path: path + "/{id}/qr", Scope: auth.Read, Tag: tag,
		Summary: "Get the QR code of a generic link",
		Description: "The code contains the link's URL and the campaign parameters of the request, so that visits from a poster or a slide have " +
			"their own source. It has a quiet zone, and as much error correction as its size allows, at least level M.",
		Answers: qr.Answers(),
	}, l.getCode)
}

type codeInput struct {
	idInput
	qr.Input
	Campaign
}

func (l *Links) getCode(w http.ResponseWriter, r *http.Request, in *codeInput) error {
	var row store.GenericLink
	err := l.deps.Postgres.AccountSnapshot(r.Context(), auth.From(r.Context()).AccountID, func(tx pgx.Tx) (err error) {
		row, err = Get(r.Context(), tx, in.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("get QR code of generic link: %w", err)
	}
	return qr.Write(w, r, in.Input, "qr-"+row.Slug, in.Add(l.deps.Site+web.LandingPath(row.Slug)))
}
