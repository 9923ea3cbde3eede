// Package signin lets people into the dashboard: by a mailed link or code, by a passkey, by an
// API key, by an invitation, by OpenID Connect, or by the link that `lodestone up` prints. It keeps
// their sessions.
//
// A page of the dashboard is a web.Handler behind Require:
//
//	pages.Mount(a, "GET /dashboard/magnets/{id}", signin.Require(show))
//	pages.Mount(a, "POST /dashboard/magnets/{id}", signin.Require(change))
//
// Inside, From(r.Context()) is the session. Its Key is an API key: send it as a bearer token to the
// site's own handler. So the API decides what the session may do, and writes the audit log. Scopes
// tell what to show. The key is a secret, which no page shows: it is derived from the cookie, and
// is stored nowhere.
//
// A form sends the hidden field FormField with the value of Session.CSRF. A script sends it in the
// header FormHeader, and a form with files in the query of its action, since Require reads no file.
// Require refuses a POST without it; there is nothing else to call.
//
// Without a session, a GET leads to the sign-in page and from there back. A POST does as well, and
// is kept: once the same person has signed in again, a page offers to send the form with everything
// that was typed. A file has to be chosen again. A script gets 401.
package signin

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

//go:embed web
var webFiles embed.FS

// Mailer has a mail sent once a transaction commits; it is implemented by mail.Queue.
type Mailer interface {
	Send(ctx context.Context, tx pgx.Tx, m mail.Message) error
	Reaches(ctx context.Context, address string) bool
}

// Deps are the dependencies of signing in. All but Script are required.
type Deps struct {
	Postgres  *postgres.Pool
	Tokens    *token.Ring
	Pages     *web.Site
	Mail      Mailer
	Limiter   *ratelimit.Visitors
	Addresses *clientaddr.Finder
	Script    string // path of the script that asks for passkeys; "": there is none, as without `make web`
	Log       *slog.Logger
}

// Service signs people in and out. It is safe for concurrent use.
type Service struct {
	deps     Deps
	verifier *auth.Verifier // of API keys that are entered
	cookie   string         // name of the session's cookie
	browser  string         // name of the cookie of a browser that signs in
	secure   bool           // whether browsers send cookies with Secure to the site

	texts     *web.Catalogue // of the dashboard
	templates map[string]*web.Template
	provider  *provider          // nil: there is no OpenID Connect
	party     *webauthn.WebAuthn // nil: there are no passkeys
}

// keys returns what derives links and codes: the first one new ones. Those of the others are still
// sent again.
func (s *Service) keys() [][token.KeyBytes]byte { return s.deps.Tokens.DeriveEach("sign-in") }

// New returns the sign-in of an installation.
func New(c Config, d Deps) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	site, err := url.Parse(d.Pages.URL(""))
	if err != nil {
		return nil, fmt.Errorf("read the address of the site: %w", err)
	}
	s := &Service{
		deps: d, verifier: auth.NewVerifier(d.Postgres, d.Log), cookie: cookieName(site), secure: trustworthy(site),
		templates: map[string]*web.Template{},
		provider:  newProvider(c, d.Pages.URL(callbackPath)),
	}
	if s.texts, err = web.DashboardTexts(); err != nil {
		return nil, err
	}
	if s.party, err = newParty(site); err != nil {
		return nil, err
	}
	s.browser = browserCookie + s.cookie[len(auth.SessionCookie):]
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the pages of signing in: %w", err)
	}
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		return nil, fmt.Errorf("read the pages of signing in: %w", err)
	}
	for _, name := range names {
		if s.templates[name], err = d.Pages.Parse(files, name, "signin.css"); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Session is that of a signed-in person, or of an API key.
type Session struct {
	ID        uuid.UUID
	AccountID uuid.UUID
	Account   string    // name of the account
	UserID    uuid.UUID // zero if an API key signed in
	Email     string    // "" if an API key signed in
	Role      auth.Role // "" if an API key signed in
	KeyID     uuid.UUID // of the API key that signed in; zero for a person
	KeyName   string    // its name; "" for a person
	Method    string    // how they signed in
	Scopes    []auth.Scope
	Key       string // API key of the session. Secret.
	CSRF      string // token for forms. Secret.
}

// Has reports whether the session has a scope.
func (s Session) Has(scope auth.Scope) bool { return auth.Identity{Scopes: s.Scopes}.Has(scope) }

func sessionOf(row store.LookUpSessionRow, secrets auth.Session) Session {
	i := auth.IdentityOf(row)
	s := Session{
		ID: row.ID, AccountID: row.AccountID, Account: row.AccountName, UserID: i.UserID, Email: row.Email, KeyID: i.KeyID,
		Method: row.Method, KeyName: row.KeyName,
		Scopes: i.Scopes, Key: secrets.Key, CSRF: secrets.CSRF,
	}
	if row.Role != nil {
		s.Role = auth.Role(*row.Role)
	}
	return s
}

type contextKey struct{}

// From returns the session of a request that Require let through. It panics for any other: a page
// without a session must not show an account.
func From(ctx context.Context) Session { return ctx.Value(contextKey{}).(Session) }

// NewContext returns a context with a session, for tests of pages.
func NewContext(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// maxSession is how long a browser keeps the cookie: a day longer than the session lives, so that
// it can tell which session is over.
const maxSession = 31 * 24 * time.Hour
