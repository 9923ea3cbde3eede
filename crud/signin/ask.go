package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"lodestone/crud/mail"
	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

const (
	// lasts is how long a mail's link and code are valid.
	lasts       = 15 * time.Minute
	maxAttempts = 5
	maxMails    = 3
	mailPause   = 30 * time.Second
	// browserLasts is how long a browser keeps the cookie that binds what it asks for to it.
	browserLasts = 24 * time.Hour
)

// triesOf returns the limit on how often one client tries to sign in: with five tries a mail, a
// code is guessed with a chance of 1 in 10,000 a day.
func triesOf() ratelimit.Rule {
	return ratelimit.Rule{Name: "sign-ins", Quota: 60, Window: time.Hour}
}

func mailsTo() []ratelimit.Rule {
	return []ratelimit.Rule{
		{Name: "sign-in-mails-hour", Quota: 5, Window: time.Hour},
		{Name: "sign-in-mails-day", Quota: 20, Window: 24 * time.Hour},
	}
}

type askData struct {
	CSRF, Next      string
	Ask, Key        string // where the forms are sent to
	Email           string
	Wrong, WrongKey string
	Note, Alert     string
	OpenID          string // where a link to the provider leads; "": there is none
	Provider        string // its name
	Insecure        bool   // browsers do not keep the session's cookie
	Passkey, Script string // where a passkey is sent, and what asks for it; Script "": there is none
}

// notes are the reasons why someone has to sign in.
var notes = []string{"lost", "out"}

// show is the sign-in page.
func (s *Service) show(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	next := nextOf(query.Get("next"))
	if _, found, err := s.find(r); err != nil {
		return err
	} else if found {
		return s.redirect(w, r, next)
	}
	d := askData{Next: next}
	if ended := query.Get("ended"); slices.Contains(notes, ended) {
		d.Note = s.say(r, "signin.ended."+ended)
	}
	return s.writeAsk(w, r, http.StatusOK, d)
}

func (s *Service) writeAsk(w http.ResponseWriter, r *http.Request, status int, d askData) error {
	d.CSRF = auth.SessionOf(s.ensureBrowser(w, r)).CSRF
	d.Ask, d.Key, d.Insecure = s.deps.Pages.Path(signInPath), s.deps.Pages.Path(signInPath+"/key"), !s.secure
	if s.provider != nil {
		d.OpenID, d.Provider = s.deps.Pages.Path(openIDPath)+"?"+url.Values{"next": {d.Next}}.Encode(),
			s.provider.config.OpenIDName
	}
	p := web.Page{Title: s.say(r, "signin.title")}
	if s.party != nil && s.deps.Script != "" {
		d.Passkey, d.Script, p.Policy.Scripts = s.deps.Pages.Path(passkeyPath), s.deps.Pages.Path(s.deps.Script), true
	}
	if d.Wrong != "" || d.WrongKey != "" {
		p.Title = s.say(r, "signin.check", "title", p.Title)
	}
	p.Data = d
	return s.write(w, r, status, "ask.html", p)
}

// ensureBrowser returns the secret of the browser, and gives it one if it has none.
func (s *Service) ensureBrowser(w http.ResponseWriter, r *http.Request) string {
	if secret := s.browserOf(r); secret != "" {
		return secret
	}
	secret := rand.Text()
	setCookie(w, s.browser, secret, browserLasts)
	return secret
}

// browserOf returns the secret of a request's browser, "" if it has none.
func (s *Service) browserOf(r *http.Request) string {
	c, err := r.Cookie(s.browser)
	if err != nil || len(c.Value) != len(rand.Text()) {
		return ""
	}
	return c.Value
}

// checkBrowser returns the secret of a form's browser, and an error unless the form is of a page
// that this browser was shown.
func (s *Service) checkBrowser(r *http.Request) (secret string, err error) {
	if secret = s.browserOf(r); secret == "" {
		return "", web.Error(web.NoCookie, web.Brand{})
	}
	return secret, checkToken(r, auth.SessionOf(secret).CSRF)
}

// take counts that a client tries to sign in.
func (s *Service) take(r *http.Request) error {
	wait, err := s.deps.Limiter.TakeAddress(r.Context(), triesOf(), s.deps.Addresses.Client(r), "")
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	return limited(wait)
}

func limited(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	st := web.Error(web.TooManyRequests, web.Brand{})
	st.Wait = wait
	return st
}

// ask takes an address, and answers the same way whether it is a user's or not.
func (s *Service) ask(w http.ResponseWriter, r *http.Request) error {
	browser, err := s.checkBrowser(r)
	if err != nil {
		return err
	}
	typed, next := strings.TrimSpace(r.PostForm.Get("email")), nextOf(r.PostForm.Get("next"))
	address, err := email.Parse(typed)
	if err != nil {
		return s.writeAsk(w, r, http.StatusUnprocessableEntity,
			askData{Next: next, Email: typed, Wrong: s.say(r, "signin.email.wrong")})
	}
	if err := s.take(r); err != nil {
		return err
	}
	if !s.deps.Mail.Reaches(r.Context(), address.Text) {
		return s.writeAsk(w, r, http.StatusUnprocessableEntity,
			askData{Next: next, Email: typed, Wrong: s.say(r, "signin.email.utf8")})
	}
	if err := s.takeMail(r.Context(), address); err != nil {
		return err
	}
	secrets, err := s.request(r.Context(), address, browser, next, locale.Match(r.Header.Get("Accept-Language")))
	if err != nil {
		return err
	}
	return s.redirect(w, r, waitingPath(secrets.Page))
}

func waitingPath(secret string) string { return signInPath + "/sent/" + secret }

// takeMail counts a mail to a mailbox.
func (s *Service) takeMail(ctx context.Context, a email.Address) error {
	var wait time.Duration
	for _, rule := range mailsTo() {
		more, err := s.deps.Limiter.Take(ctx, rule, a.Mailbox())
		if err != nil {
			return fmt.Errorf("count mail: %w", err)
		}
		wait = max(wait, more)
	}
	return limited(wait)
}

// request stores that a browser wants to sign in with an address, and has the mail sent if it is a
// user's. The mail is in the language of the user's account, or else in the given one.
func (s *Service) request(ctx context.Context, address email.Address, browser, next string,
	language locale.Language) (proof.Secrets, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return proof.Secrets{}, fmt.Errorf("make id: %w", err)
	}
	secrets := proof.New(s.keys()[0])
	err = s.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		u, err := q.UserByEmail(ctx, address.Key)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("find user: %w", err)
		}
		p := store.InsertSignInParams{
			ID: id, Email: address.Text, BrowserHash: proof.Hash(browser), PageHash: proof.Hash(secrets.Page),
			LinkHash: proof.Hash(secrets.Link),
			CodeHash: proof.CodeHash(secrets.Page, secrets.Code), Next: next, Lasts: interval(lasts),
		}
		if err == nil {
			p.UserID = &u.ID
			language = locale.Or(u.Language, string(language))
		}
		if err := q.InsertSignIn(ctx, p); err != nil {
			return fmt.Errorf("store sign-in: %w", err)
		}
		return s.mail(ctx, tx, recipient{account: u.AccountID, user: u.ID, typed: address.Text, stored: u.Email,
			language: language}, secrets, time.Now().Add(lasts))
	})
	return secrets, err
}

// recipient is who is mailed a link: a user, or no one if the ids are zero.
type recipient struct {
	account, user uuid.UUID
	typed, stored string // addresses
	language      locale.Language
}

func (s *Service) mail(ctx context.Context, tx pgx.Tx, to recipient, secrets proof.Secrets, until time.Time) error {
	m := mail.Message{Kind: mail.KindSignIn, AccountID: to.account, To: to.stored,
		URL: s.deps.Pages.URL(linkPath(secrets.Link)), Code: secrets.Code, ExpiresAt: until, Language: to.language}
	if to.user == uuid.Nil {
		m.AccountID, m.To, m.Void = uuid.New(), to.typed, true
	}
	if !mail.CanReach(m.To) {
		return nil
	}
	if err := s.deps.Mail.Send(ctx, tx, m); err != nil {
		return fmt.Errorf("mail the link to sign in: %w", err)
	}
	return nil
}

func linkPath(secret string) string { return signInPath + "/link/" + url.PathEscape(secret) }

func interval(d time.Duration) pgtype.Interval {
	return pgtype.Interval{Microseconds: d.Microseconds(), Valid: true}
}
