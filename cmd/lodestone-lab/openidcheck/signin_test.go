package openidcheck

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// noMail takes mails that this test does not read.
type noMail struct{}

func (noMail) Send(context.Context, pgx.Tx, mail.Message) error { return nil }

func (noMail) Reaches(context.Context, string) bool { return true }

// jar keeps cookies with Secure for this machine, as browsers do.
type jar struct{ *cookiejar.Jar }

func (j jar) SetCookies(u *url.URL, cookies []*http.Cookie) { j.Jar.SetCookies(secure(u), cookies) }

func (j jar) Cookies(u *url.URL) []*http.Cookie { return j.Jar.Cookies(secure(u)) }

func secure(u *url.URL) *url.URL {
	c := *u
	c.Scheme = "https"
	return &c
}

// listen returns a listener of this machine and its address.
func listen(t *testing.T) (l net.Listener, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l, "http://" + l.Addr().String()
}

func serve(t *testing.T, l net.Listener, handler http.Handler) {
	t.Helper()
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
}

// A person whose verified address the provider knows signs in there, and is in the dashboard.
func TestSignInAtARealProvider(t *testing.T) {
	db := enginetest.MigratedPostgres(t)
	ring, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	siteListener, site := listen(t)
	providerListener, issuer := listen(t)
	storage.RegisterClients(storage.WebClient("lodestone", "secret", site+"/dashboard/sign-in/openid/callback"))
	serve(t, providerListener, exampleop.SetupServer(issuer, storage.NewStorage(storage.NewUserStore(issuer)), log, false))

	pages, err := web.New(web.Deps{Site: site, Log: log})
	require.NoError(t, err)
	addresses, err := clientaddr.Config{}.Finder()
	require.NoError(t, err)
	service, err := signin.New(signin.Config{OpenIDIssuer: issuer, OpenIDClientID: "lodestone",
		OpenIDClientSecret: "secret", OpenIDName: "Zitadel"}, signin.Deps{
		Postgres: db, Tokens: ring, Pages: pages, Mail: noMail{}, Limiter: ratelimit.NewVisitors(db, ring),
		Addresses: addresses, Log: log,
	})
	require.NoError(t, err)
	a := api.New(api.Deps{Verifier: auth.NewVerifier(db, log), Log: log})
	service.Register(a)
	pages.Mount(a, "GET /dashboard", service.Require(func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.WriteString(w, "signed in as "+signin.From(r.Context()).Email)
		return err
	}))
	serve(t, siteListener, a)
	tenant, err := account.New(db).Create(t.Context(), "Acme", account.Team)
	require.NoError(t, err)
	_, err = user.NewUsers(db).Add(t.Context(), tenant, "test-user@zitadel.ch", auth.Editor)
	require.NoError(t, err)

	// signIn goes to the provider, and returns the browser and the address that leads back, which it
	// has not opened.
	signIn := func() (*http.Client, string) {
		t.Helper()
		cookies, err := cookiejar.New(nil)
		require.NoError(t, err)
		var back string
		browser := &http.Client{Jar: jar{cookies}, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path == "/dashboard/sign-in/openid/callback" && r.Response.Request.URL.Host != r.URL.Host {
				back = r.URL.String()
				return http.ErrUseLastResponse
			}
			return nil
		}}
		text, _ := read(t, browser, site+"/dashboard", nil, http.StatusOK)
		require.Contains(t, text, "Sign in with Zitadel")
		text, at := read(t, browser, site+"/dashboard/sign-in/openid?next=/dashboard", nil, http.StatusOK)
		require.Equal(t, issuer+"/login/username", at.Scheme+"://"+at.Host+at.Path)
		id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(text)
		require.NotNil(t, id, text)
		read(t, browser, at.String(), url.Values{"id": {id[1]}, "username": {"test-user@127.0.0.1"},
			"password": {"verysecure"}}, http.StatusFound)
		require.NotEmpty(t, back)
		return browser, back
	}
	browser, back := signIn()
	text, at := read(t, browser, back, nil, http.StatusOK)
	require.Equal(t, site+"/dashboard", at.String())
	require.Equal(t, "signed in as test-user@zitadel.ch", text)

	// The same answer again, in another browser, and with the code of another request.
	refused := func(browser *http.Client, back string) {
		t.Helper()
		text, _ := read(t, browser, back, nil, http.StatusBadRequest)
		require.Contains(t, text, "didn’t work")
		_, at := read(t, browser, site+"/dashboard", nil, http.StatusOK)
		require.Equal(t, "/dashboard/sign-in", at.Path)
	}
	cookies, err := cookiejar.New(nil)
	require.NoError(t, err)
	refused(&http.Client{Jar: jar{cookies}}, back)
	victim, stolen := signIn()
	attacker, own := signIn()
	refused(attacker, stolen)
	refused(victim, stolen)
	browser, back = signIn()
	refused(browser, with(t, back, "code", valueOf(t, own, "code")))
	browser, back = signIn()
	refused(browser, with(t, back, "iss", "https://evil.example"))
}

// read opens an address, or sends a form to it, and returns what is there and where it led.
func read(t *testing.T, browser *http.Client, address string, form url.Values, status int) (string, *url.URL) {
	t.Helper()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, body)
	require.NoError(t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := browser.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, status, res.StatusCode, string(text))
	return string(text), res.Request.URL
}

// with returns an address with another value of a parameter, and valueOf the value.
func with(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

func valueOf(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u.Query().Get(name)
}
