package accesslink

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/qr"
	"lodestone/pkg/store"
)

func (l *Links) registerCode(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "get-access-link-qr", Method: "GET", Path: path + "/{id}/qr", Scope: auth.Leads, Tag: tag,
		Summary:     "Get the QR code of an access link",
		Description: "The code contains the link's URL: anyone who scans it opens the document as the recipient. It has a quiet zone, and error correction of at least level M.",
		Answers:     qr.Answers(), Errors: []problem.Code{problem.Conflict},
	}, l.getCode)
}

type codeInput struct {
	idInput
	qr.Input
}

func (l *Links) getCode(w http.ResponseWriter, r *http.Request, in *codeInput) error {
	var row store.GetAccessLinkRow
	err := l.deps.Postgres.AccountSnapshot(r.Context(), auth.From(r.Context()).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetAccessLink(r.Context(), in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.Missing("access link")
	}
	if err != nil {
		return fmt.Errorf("get QR code of access link: %w", err)
	}
	url := l.fromRow(row, store.Counts{}).URL
	if url == nil {
		return problem.New(problem.Conflict, "The token key that sealed this link's URL is lost: create another access link.")
	}
	return qr.Write(w, r, in.Input, "qr-"+in.ID.String(), *url)
}
