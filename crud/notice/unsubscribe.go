package notice

import (
	"embed"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/page"
	"lodestone/pkg/api"
	"lodestone/pkg/store"
)

//go:embed web
var web embed.FS

const path = "/notices/"

// The purposes of grants in mails.
const (
	forNotices      = "notices"
	forConfirmation = "notice confirmation"
)

// unsubscribeURL returns the address of the page on which whoever got a notice ends them. It works as long
// as the account's notices go to the same address.
func (n *Notices) unsubscribeURL(account uuid.UUID, to string) string {
	return n.deps.Pages.URL(path + n.grant(forNotices, account, to))
}

// state is what the page says.
type state struct {
	To     string
	Notify string
	Done   bool // it was just changed
}

// Register mounts the pages that mails lead to.
func (n *Notices) Register(a *api.API) {
	n.deps.Pages.Mount(a, "GET "+path+"{token}", n.showSettings)
	n.deps.Pages.Mount(a, "POST "+path+"{token}", n.changeSettings)
	n.deps.Pages.Mount(a, "GET "+confirmPath+"{token}", n.askToConfirm)
	n.deps.Pages.Mount(a, "POST "+confirmPath+"{token}", n.confirmed)
}

func (n *Notices) showSettings(w http.ResponseWriter, r *http.Request) error {
	s, err := n.change(r, "")
	if err != nil {
		return err
	}
	return n.writeSettings(w, r, s)
}

// changeSettings sets what the form chooses. A mail program posts here as well when its user presses its button (RFC 8058); it
// names no choice.
func (n *Notices) changeSettings(w http.ResponseWriter, r *http.Request) error {
	choice := r.PostFormValue("notify")
	if choice != Each && choice != Daily {
		choice = None
	}
	s, err := n.change(r, choice)
	if err != nil {
		return err
	}
	s.Done = true
	return n.writeSettings(w, r, s)
}

func (n *Notices) writeSettings(w http.ResponseWriter, r *http.Request, s state) error {
	return n.settings.Write(w, r, http.StatusOK, page.Page{Title: "Notices about new leads", Data: s})
}

// ofToken runs fn with the account that a request's grant names, and the address of its notices, if the grant is for that
// address. Else there is no such page.
func (n *Notices) ofToken(r *http.Request, purpose string, fn func(q *store.Queries, account uuid.UUID, to string, a store.TakeNoticesRow) error) error {
	missing := page.Error(page.NotFound, page.Brand{})
	account, isFor, ok := n.open(purpose, r.PathValue("token"))
	if !ok {
		return missing
	}
	return n.deps.Postgres.Account(r.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		a, err := q.TakeNotices(r.Context())
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err != nil {
			return fmt.Errorf("read whom to tell of leads: %w", err)
		}
		if a.NotifyEmail == nil || !isFor(*a.NotifyEmail) {
			return missing
		}
		return fn(q, account, *a.NotifyEmail, a)
	})
}

// change reads the account that a request's token names, and sets when it gets notices unless that is "".
func (n *Notices) change(r *http.Request, notify string) (s state, err error) {
	err = n.ofToken(r, forNotices, func(q *store.Queries, _ uuid.UUID, to string, a store.TakeNoticesRow) error {
		s = state{To: to, Notify: a.Notify}
		if notify == "" || notify == a.Notify {
			return nil
		}
		s.Notify = notify
		_, err := q.UpdateAccount(r.Context(), store.UpdateAccountParams{Notify: &notify})
		return err
	})
	return s, err
}
