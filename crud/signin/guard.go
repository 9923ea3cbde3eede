package signin

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

const (
	// FormField is the hidden field, or the parameter of a form's action, that holds Session.CSRF.
	FormField = "csrf"
	// FormHeader is the header in which a script sends it.
	FormHeader = "X-CSRF-Token"
)

// Require lets requests with a session through, and puts it into their context. The others are led
// to the sign-in page.
func (s *Service) Require(fn web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		session, found, err := s.find(r)
		if err != nil {
			return err
		}
		if !found {
			return s.signedOut(w, r)
		}
		if !safe(r) {
			if err := checkToken(r, session.CSRF); err != nil {
				return s.refused(w, r, err)
			}
		}
		if err := store.New(s.deps.Postgres.Unscoped()).NoteSessionActivity(r.Context(), session.ID); err != nil {
			return fmt.Errorf("note activity of session: %w", err)
		}
		return fn(w, r.WithContext(NewContext(r.Context(), session)))
	}
}

// CheckForm returns an error unless the request has the token of its session. Require has checked
// it; call CheckForm where a page is mounted without it.
func (s *Service) CheckForm(r *http.Request) error {
	session, found, err := s.find(r)
	if err != nil {
		return err
	}
	if !found {
		return web.Error(web.Refused, web.Brand{})
	}
	return checkToken(r, session.CSRF)
}

// safe reports whether a request only reads.
func safe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// find returns the session of a request's cookie, if it is alive.
func (s *Service) find(r *http.Request) (Session, bool, error) {
	secrets, ok := s.secrets(r)
	if !ok {
		return Session{}, false, nil
	}
	row, err := store.New(s.deps.Postgres.Unscoped()).LookUpSession(r.Context(),
		store.LookUpSessionParams{CookieHash: secrets.CookieHash[:]})
	if errors.Is(err, pgx.ErrNoRows) {
		return Session{}, false, nil
	}
	if err != nil {
		return Session{}, false, fmt.Errorf("look up session: %w", err)
	}
	return sessionOf(row, secrets), true, nil
}

// secrets returns what the cookie of this installation's sessions says, whether the session is
// alive or not.
func (s *Service) secrets(r *http.Request) (auth.Session, bool) {
	c, err := r.Cookie(s.cookie)
	if err != nil || !slices.Contains(auth.SessionCookies(r), c.Value) {
		return auth.Session{}, false
	}
	return auth.SessionOf(c.Value), true
}

// checkToken returns an error unless a request has a token.
func checkToken(r *http.Request, token string) error {
	given := r.Header.Get(FormHeader)
	if given == "" && isForm(r, plainForm) {
		if err := r.ParseForm(); err != nil {
			return web.BadForm(err)
		}
		given = r.PostForm.Get(FormField)
	} else if given == "" {
		given = r.URL.Query().Get(FormField)
	}
	if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
		return web.Error(web.Refused, web.Brand{})
	}
	for _, fields := range []url.Values{r.PostForm, r.Form} {
		delete(fields, FormField)
	}
	return nil
}

// The kinds of forms that browsers send.
const (
	plainForm = "application/x-www-form-urlencoded"
	fileForm  = "multipart/form-data"
)

func isForm(r *http.Request, kind string) bool {
	given, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(given), kind)
}

// isScript reports whether a script asks, and not a person who comes to a page.
func isScript(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Dest") == "empty" }

// refused answers a form without the token of the session. Someone who signed in again in another
// tab sees what was typed into this one.
func (s *Service) refused(w http.ResponseWriter, r *http.Request, err error) error {
	if st, ok := errors.AsType[*web.Status](err); !ok || st.Kind != web.Refused {
		return err
	}
	if shown, failed := s.showTyped(w, r, http.StatusForbidden, "signin.typed.other", ""); shown || failed != nil {
		return failed
	}
	return err
}

// signInFor returns the address of the sign-in page that leads on to a page of the dashboard.
func (s *Service) signInFor(next string) string {
	return s.deps.Pages.Path(signInPath + "?" + url.Values{"next": {next}}.Encode())
}

// signedOut leads a request without a session to the sign-in page. What was typed into a form is
// shown.
func (s *Service) signedOut(w http.ResponseWriter, r *http.Request) error {
	if isScript(r) { // which can do nothing with the page
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusUnauthorized)
		return nil
	}
	next := nextOf(r.URL.RequestURI())
	query := url.Values{}
	if !safe(r) {
		if shown, err := s.showTyped(w, r, http.StatusUnauthorized, "signin.typed.out", s.signInFor(cameFrom(r))); shown ||
			err != nil {
			return err
		}
		next = dashboardPath
		query.Set("ended", "lost")
	}
	query.Set("next", next)
	return s.redirect(w, r, signInPath+"?"+query.Encode())
}
