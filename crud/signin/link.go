package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

type linkData struct {
	CSRF, Here, Back string
	Email            string
	State            state
	Elsewhere        bool // another browser asked
}

// askToSignIn is where a mail's link leads. Programs that look at mails follow links, so nothing
// happens until a person presses the button, in the browser that asked.
func (s *Service) askToSignIn(w http.ResponseWriter, r *http.Request) error {
	row, err := s.byLink(r)
	if err != nil {
		return err
	}
	return s.writeLink(w, r, row)
}

func (s *Service) byLink(r *http.Request) (row store.SignInByLinkRow, err error) {
	missing := web.Error(web.NotFound, web.Brand{})
	secret := r.PathValue("link")
	if !secretForm.MatchString(secret) {
		return row, missing
	}
	row, err = store.New(s.deps.Postgres.Unscoped()).SignInByLink(r.Context(), proof.Hash(secret))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.UserID == nil {
		return row, missing
	}
	if err != nil {
		return row, fmt.Errorf("find sign-in: %w", err)
	}
	return row, nil
}

func (s *Service) writeLink(w http.ResponseWriter, r *http.Request, row store.SignInByLinkRow) error {
	d := linkData{
		Here: s.deps.Pages.Path(linkPath(r.PathValue("link"))), Back: s.deps.Pages.Path(signInPath), Email: row.Email,
		State: stateOf(row.UsedAt, row.Over, 0), Elsewhere: !s.asked(r, row.BrowserHash),
	}
	status := http.StatusOK
	if d.State != stateOpen {
		status = http.StatusGone
	}
	if !d.Elsewhere {
		d.CSRF = auth.SessionOf(s.browserOf(r)).CSRF
	}
	return s.write(w, r, status, "link.html", web.Page{Title: s.say(r, "signin.title"), Data: d})
}

// pressed is the button behind the mail's link.
func (s *Service) pressed(w http.ResponseWriter, r *http.Request) error {
	row, err := s.byLink(r)
	if err != nil {
		return err
	}
	if !s.asked(r, row.BrowserHash) {
		return s.writeLink(w, r, row)
	}
	if _, err := s.checkBrowser(r); err != nil {
		return err
	}
	in, err := s.complete(r, row.ID, byMail)
	if errors.Is(err, errUsed) {
		return s.askToSignIn(w, r)
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, in, row.Next)
}

// Link is one that signs a user in once.
type Link struct {
	User  uuid.UUID
	Lasts time.Duration
}

// NewLink returns the path of a page that signs a user in once, in any browser. It ends the links
// that were made for the user before. It is for whoever runs the installation.
func NewLink(ctx context.Context, db *postgres.Pool, l Link) (path string, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make link to sign in: %w", err)
	}
	secret := proof.Random()
	err = db.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.DeleteUnboundSignIns(ctx, &l.User); err != nil {
			return err
		}
		return q.InsertSignIn(ctx, store.InsertSignInParams{
			ID: id, UserID: &l.User, LinkHash: proof.Hash(secret), CodeHash: []byte{},
			Next: dashboardPath, Lasts: interval(l.Lasts),
		})
	})
	if err != nil {
		return "", fmt.Errorf("make link to sign in: %w", err)
	}
	return oncePath + secret, nil
}

const oncePath = signInPath + "/once/"

// once signs in the browser that opens a link of NewLink first. The link is in no mail, and so no
// program follows it.
func (s *Service) once(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead || r.Header.Get("Sec-Purpose") != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	row, err := s.byLink(r)
	if err != nil {
		return err
	}
	if row.BrowserHash != nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	in, err := s.complete(r, row.ID, byLink)
	if errors.Is(err, errUsed) {
		if _, found, err := s.find(r); err != nil {
			return err
		} else if found {
			return s.redirect(w, r, row.Next)
		}
		return s.write(w, r, http.StatusGone, "link.html", web.Page{Title: s.say(r, "signin.title"),
			Data: linkData{Back: s.deps.Pages.Path(signInPath), State: stateUsed}})
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, in, row.Next)
}
