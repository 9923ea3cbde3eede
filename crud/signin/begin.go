package signin

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// The ways to sign in.
const (
	byMail       = "mail"
	byKey        = "key"
	byLink       = "link" // of lodestone up
	byInvitation = "invitation"
)

// maxUserAgent is how much of a browser's name is stored.
const maxUserAgent = 200

// holder is whose a session is.
type holder struct {
	account uuid.UUID
	user    *uuid.UUID
	key     *uuid.UUID
}

// newSession is a session that is about to begin.
type newSession struct {
	store.InsertUserSessionParams
	secret string
}

// makeSession returns a session for someone, to be inserted in a transaction of the account. It
// always has a new secret, whatever cookie the browser sent.
func makeSession(r *http.Request, whom holder, method string) (newSession, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return newSession{}, fmt.Errorf("make id: %w", err)
	}
	secrets := auth.NewSession()
	return newSession{store.InsertUserSessionParams{
		ID: id, AccountID: whom.account, UserID: whom.user, KeyID: whom.key, Method: method,
		CookieHash: secrets.CookieHash[:], KeyHash: secrets.KeyHash[:], UserAgent: userAgent(r),
	}, secrets.Secret}, nil
}

// begin inserts the session, and writes it into the audit log as an action. The transaction is the
// account's, or not scoped.
func (n newSession) begin(ctx context.Context, tx pgx.Tx, action auth.AuditAction) error {
	if err := store.New(tx).InsertUserSession(ctx, n.InsertUserSessionParams); err != nil {
		return fmt.Errorf("begin session: %w", err)
	}
	caller := auth.Identity{AccountID: n.AccountID, SessionID: n.ID}
	if n.UserID != nil {
		caller.UserID = *n.UserID
	}
	if n.KeyID != nil {
		caller.KeyID = *n.KeyID
	}
	return auth.WriteAudit(ctx, tx, auth.AuditEntry{Action: action, Object: n.ID, Caller: caller,
		RequestID: api.RequestID(ctx)})
}

// enter gives the browser its session, ends the one that it had, and leads on.
func (s *Service) enter(w http.ResponseWriter, r *http.Request, in newSession, next string) error {
	if err := s.endBefore(r); err != nil {
		return err
	}
	setCookie(w, s.cookie, in.secret, maxSession)
	return s.redirect(w, r, next)
}

// endBefore ends the session that the browser has, whosever it is.
func (s *Service) endBefore(r *http.Request) error {
	secrets, ok := s.secrets(r)
	if !ok {
		return nil
	}
	if err := store.New(s.deps.Postgres.Unscoped()).EndSessionOfCookie(r.Context(), secrets.CookieHash[:]); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

func userAgent(r *http.Request) string {
	text := []rune(r.UserAgent())
	return string(text[:min(len(text), maxUserAgent)])
}

// textsFor returns the texts in the language of the browser, if the dashboard has texts in it. Else
// they are English.
func (s *Service) textsFor(r *http.Request) *web.Texts {
	return s.texts.In(locale.Match(r.Header.Get("Accept-Language")))
}

// say returns a text for whoever sent a request.
func (s *Service) say(r *http.Request, key string, args ...any) string {
	return s.textsFor(r).Say(key, args...)
}

// write answers with a page.
func (s *Service) write(w http.ResponseWriter, r *http.Request, status int, name string, p web.Page) error {
	p.Font, p.Texts = true, s.textsFor(r)
	if err := s.templates[name].Write(w, r, status, p); err != nil {
		return fmt.Errorf("write page of signing in: %w", err)
	}
	return nil
}
