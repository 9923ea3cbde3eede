package recipient

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/store"
)

const (
	pagePath = "/unsubscribe/"
	// forUnsubscribing is the purpose of grants in mails. They name an account and a person.
	forUnsubscribing = "unsubscribe"
)

// never is when these grants end: people can unsubscribe for good.
var never = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

func (r *Recipients) unsubscribeURL(account, person uuid.UUID) string {
	return r.deps.Pages.URL(pagePath + r.deps.Tokens.Grant(forUnsubscribing, nil, append(account[:], person[:]...), never))
}

// registerPage mounts the page that mails lead to. A mail program posts there when its user presses
// its button (RFC 8058). Opening it changes nothing: programs that check mails open every address.
func (r *Recipients) registerPage(a *api.API) {
	r.deps.Pages.Mount(a, "GET "+pagePath+"{token}", r.unsubscribe)
	r.deps.Pages.Mount(a, "POST "+pagePath+"{token}", r.unsubscribe)
}

func (r *Recipients) unsubscribe(w http.ResponseWriter, req *http.Request) error {
	missing := web.Error(web.NotFound, web.Brand{})
	body, err := r.deps.Tokens.OpenGrant(forUnsubscribing, nil, req.PathValue("token"), time.Now())
	if err != nil || len(body) != 2*len(uuid.Nil) {
		return missing
	}
	account, person := uuid.UUID(body[:len(uuid.Nil)]), uuid.UUID(body[len(uuid.Nil):])
	var state struct {
		Account string
		Done    bool
	}
	var language *string
	err = r.deps.Postgres.Account(req.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.BrandOfAccount(req.Context(), account)
		if errors.Is(err, pgx.ErrNoRows) {
			return missing // deleted
		}
		if err != nil {
			return fmt.Errorf("read account: %w", err)
		}
		state.Account, language = row.Name, row.Language
		if req.Method != http.MethodPost {
			return nil
		}
		state.Done = true
		return q.Unsubscribe(req.Context(), store.UnsubscribeParams{AccountID: account, PersonID: person})
	})
	if err != nil {
		return err
	}
	brand := web.Brand{Language: language}
	texts := r.deps.Pages.Texts(req, brand)
	return r.page.Write(w, req, http.StatusOK,
		web.Page{Title: texts.Say("unsubscribe.title"), Brand: brand, Texts: texts, Data: state})
}
