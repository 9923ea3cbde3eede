package notice

import (
	"crypto/hmac"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"lukechampine.com/blake3"

	"lodestone/crud/page"
	"lodestone/crud/store"
	"lodestone/pkg/api"
)

//go:embed web
var web embed.FS

const (
	path     = "/notices/"
	macBytes = 16
)

// unsubscribeURL returns the address of the page on which whoever got a notice ends them. It works as long
// as the account's notices go to the same address, and tokens are signed with the same key.
func (n *Notices) unsubscribeURL(account uuid.UUID, to string) string {
	return n.Site + path + base64.RawURLEncoding.EncodeToString(append(account[:], n.mac(account, to)...))
}

func (n *Notices) mac(account uuid.UUID, to string) []byte {
	h := blake3.New(macBytes, n.key[:])
	_, _ = h.Write(append(account[:], to...)) // documented never to fail
	return h.Sum(nil)
}

// state is what the page says.
type state struct {
	To     string
	Notify string
	Done   bool // it was just changed
}

// Register mounts the page that mails lead to.
func (n *Notices) Register(a *api.API, site *page.Site) error {
	files, err := fs.Sub(web, "web")
	if err != nil {
		return fmt.Errorf("read the page of notices: %w", err)
	}
	t, err := site.Parse(files, "notices.html")
	if err != nil {
		return err
	}
	show := func(w http.ResponseWriter, r *http.Request, s state) error {
		return t.Write(w, r, http.StatusOK, page.Page{Title: "Notices about new leads", Data: s})
	}
	a.Handle("GET "+path+"{token}", site.Handler(func(w http.ResponseWriter, r *http.Request) error {
		s, err := n.change(r, "")
		if err != nil {
			return err
		}
		return show(w, r, s)
	}))
	// A mail program posts here as well when its user presses its button (RFC 8058); it names no choice.
	a.Handle("POST "+path+"{token}", site.Handler(func(w http.ResponseWriter, r *http.Request) error {
		choice := r.PostFormValue("notify")
		if choice != Each && choice != Daily {
			choice = None
		}
		s, err := n.change(r, choice)
		if err != nil {
			return err
		}
		s.Done = true
		return show(w, r, s)
	}))
	return nil
}

// change reads the account that a request's token names, and sets when it is told of leads unless that is "".
func (n *Notices) change(r *http.Request, notify string) (s state, err error) {
	missing := page.Show(page.NotFound, page.Brand{})
	raw, err := base64.RawURLEncoding.Strict().DecodeString(r.PathValue("token"))
	if err != nil || len(raw) != len(uuid.UUID{})+macBytes {
		return s, missing
	}
	account := uuid.UUID(raw[:len(uuid.UUID{})])
	err = n.DB.Account(r.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		a, err := q.AccountNotices(r.Context())
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err != nil {
			return fmt.Errorf("read whom to tell of leads: %w", err)
		}
		if a.NotifyEmail == nil || !hmac.Equal(raw[len(account):], n.mac(account, *a.NotifyEmail)) {
			return missing
		}
		s = state{To: *a.NotifyEmail, Notify: a.Notify}
		if notify == "" || notify == a.Notify {
			return nil
		}
		s.Notify = notify
		_, err = q.UpdateAccount(r.Context(), store.UpdateAccountParams{Notify: &notify})
		return err
	})
	return s, err
}
