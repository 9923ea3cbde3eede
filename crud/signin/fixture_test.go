package signin_test

import (
	"context"
	"html"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) {
	test.Trust()
	enginetest.Main(m)
}

const site = "https://links.example.com"

// mailbox takes the mails of everyone.
type mailbox struct {
	mu      sync.Mutex
	mails   []mail.Message
	unknown string // an address that no mail can be sent to
}

func (m *mailbox) Send(_ context.Context, _ pgx.Tx, message mail.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mails = append(m.mails, message)
	return nil
}

func (m *mailbox) Reaches(_ context.Context, address string) bool { return address != m.unknown }

// last returns the newest mail to an address.
func (m *mailbox) last(t *testing.T, to string) mail.Message {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range slices.Backward(m.mails) {
		if message.To == to && !message.Void {
			return message
		}
	}
	require.Fail(t, "no mail to "+to)
	return mail.Message{}
}

// sent counts the mails that are sent to an address.
func (m *mailbox) sent(to string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range m.mails {
		if message.To == to && !message.Void {
			n++
		}
	}
	return n
}

// fixture is the pages and the API of people, over HTTP on a database of their own, with an account
// and its owner.
type fixture struct {
	url      string
	db       *postgres.Pool
	accounts *account.Accounts
	users    *user.Users
	mails    *mailbox
	account  uuid.UUID
	config   signin.Config
	owner    uuid.UUID
	handled  chan url.Values // forms that a page of the dashboard took
	logged   *logged
}

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	return len(b), nil
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T, change ...func(*signin.Config)) *fixture {
	t.Helper()
	f := &fixture{db: enginetest.MigratedPostgres(t), mails: &mailbox{}, logged: &logged{},
		handled: make(chan url.Values, 10)}
	var err error
	f.accounts, f.users = account.New(f.db), user.NewUsers(f.db)
	f.account, err = f.accounts.Create(t.Context(), "Acme Ltd", account.Team)
	require.NoError(t, err)
	f.owner, err = f.users.Add(t.Context(), f.account, "owner@example.com", auth.Owner)
	require.NoError(t, err)
	f.serve(t, change...)
	return f
}

// startOn serves the database of another fixture with other settings.
func startOn(t *testing.T, other *fixture, change ...func(*signin.Config)) *fixture {
	t.Helper()
	f := *other
	f.serve(t, change...)
	return &f
}

func (f *fixture) serve(t *testing.T, change ...func(*signin.Config)) {
	t.Helper()
	for _, c := range change {
		c(&f.config)
	}
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	log := slog.New(slog.NewTextHandler(f.logged, nil))
	pages, err := web.New(web.Deps{Site: site, Log: log})
	require.NoError(t, err)
	addresses, err := clientaddr.Config{TrustedProxies: []string{"127.0.0.1"}}.Finder()
	require.NoError(t, err)
	limiter := ratelimit.NewVisitors(f.db, tokens)
	service, err := signin.New(f.config, signin.Deps{Postgres: f.db, Tokens: tokens, Pages: pages, Mail: f.mails,
		Limiter: limiter, Addresses: addresses, Log: log})
	require.NoError(t, err)
	a := api.New(api.Deps{Verifier: auth.NewVerifier(f.db, log), Log: log})
	service.Register(a)
	user.New(user.Deps{Postgres: f.db, Mail: f.mails, Limiter: limiter, Site: site}).Register(a)
	account.NewSelf(plan.Plans{}, account.Deps{Postgres: f.db}).Register(a)
	// What a page of the dashboard is like: it asks the API with the key of the session, and takes a
	// form.
	pages.Mount(a, "GET /dashboard/settings", service.Require(func(w http.ResponseWriter, r *http.Request) error {
		session := signin.From(r.Context())
		inner := httptest.NewRequestWithContext(r.Context(), "GET", "/api/v1/account", http.NoBody)
		inner.Header.Set("Authorization", "Bearer "+session.Key)
		answer := httptest.NewRecorder()
		a.ServeHTTP(answer, inner)
		_, _ = io.WriteString(w, answer.Body.String()+"\ncsrf="+session.CSRF+"\nkey="+session.Key)
		return nil
	}))
	pages.Mount(a, "POST /dashboard/settings", service.Require(func(w http.ResponseWriter, r *http.Request) error {
		f.handled <- r.PostForm
		http.Redirect(w, r, "/dashboard/settings?saved", http.StatusSeeOther)
		return nil
	}))
	pages.MountTransfer(a, "POST /dashboard/new", web.Transfer{MaxBytes: 1 << 20, Timeout: testTimeout},
		service.Require(func(w http.ResponseWriter, r *http.Request) error {
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				return err
			}
			taken := url.Values(r.MultipartForm.Value)
			taken.Set("file", r.MultipartForm.File["file"][0].Filename)
			f.handled <- taken
			http.Redirect(w, r, "/dashboard/settings?saved", http.StatusSeeOther)
			return nil
		}))
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	f.url = server.URL
}

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

type reply struct {
	status int
	header http.Header
	body   string
}

// browser keeps cookies, as one does that reaches the site over TLS.
type browser struct {
	f       *fixture
	cookies map[string]string
	from    string // its address
}

func (f *fixture) browser() *browser {
	return &browser{f: f, cookies: map[string]string{}, from: "203.0.113." + uuid.NewString()[:1]}
}

func (b *browser) send(t *testing.T, method, path string, form url.Values, header ...string) reply {
	t.Helper()
	if form != nil {
		header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"},
			header...)
	}
	return b.do(t, method, path, form.Encode(), header...)
}

// upload sends a form with a file, in the order of the page: the file comes first.
func (b *browser) upload(t *testing.T, path, file, content string, fields url.Values) reply {
	t.Helper()
	var body strings.Builder
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", file)
	require.NoError(t, err)
	_, err = io.WriteString(part, content)
	require.NoError(t, err)
	for name, values := range fields {
		for _, value := range values {
			require.NoError(t, w.WriteField(name, value))
		}
	}
	require.NoError(t, w.Close())
	return b.do(t, "POST", path, body.String(), "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
}

func (b *browser) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.f.url+path, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, c := range res.Cookies() {
		require.True(t, strings.HasPrefix(c.Name, "__Host-"), c.Name)
		require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.Domain == "" &&
			c.SameSite == http.SameSiteLaxMode, c.String())
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

func (b *browser) get(t *testing.T, path string, header ...string) reply {
	t.Helper()
	return b.send(t, "GET", path, nil, header...)
}

// csrf is the token of a page's first form.
func csrf(t *testing.T, r reply) string {
	t.Helper()
	found := regexp.MustCompile(`(?:name="csrf" value="|csrf=)([^"\n]+)`).FindStringSubmatch(r.body)
	require.NotNil(t, found, r.body)
	return html.UnescapeString(found[1])
}

// ask enters an address on the sign-in page, and returns the path of the page that waits.
func (b *browser) ask(t *testing.T, address, next string) string {
	t.Helper()
	r := b.get(t, "/dashboard/sign-in?"+url.Values{"next": {next}}.Encode())
	require.Equal(t, 200, r.status, r.body)
	r = b.send(t, "POST", "/dashboard/sign-in", url.Values{"csrf": {csrf(t, r)}, "email": {address}, "next": {next}})
	require.Equal(t, 303, r.status, r.body)
	return r.header.Get("Location")
}

// signIn signs in by the mail's code.
func (b *browser) signIn(t *testing.T, address string) reply {
	t.Helper()
	waiting := b.ask(t, address, "/dashboard/settings")
	page := b.get(t, waiting)
	r := b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, page)}, "code": {b.f.mails.last(t, address).Code}})
	require.Equal(t, 303, r.status, r.body)
	return r
}

const cookieName = "__Host-lodestone"

func (b *browser) signedIn(t *testing.T) bool {
	t.Helper()
	r := b.get(t, "/dashboard/settings")
	require.Contains(t, []int{200, 303}, r.status, r.body)
	return r.status == 200
}

// key returns the API key of the browser's session.
func (b *browser) key(t *testing.T) string {
	t.Helper()
	return auth.SessionOf(b.cookies[cookieName]).Key
}

// api sends a request to the API with a key.
func (f *fixture) api(t *testing.T, key, method, path, body string) (status int, object map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if len(text) > 0 {
		require.NoError(t, json.Unmarshal(text, &object), string(text))
	}
	return res.StatusCode, object
}

var nonce = regexp.MustCompile(`nonce="[^"]+"`)

const (
	testTimeout = 3 * time.Minute
	poll        = 20 * time.Millisecond
)

func one[T any](t *testing.T, f *fixture, sql string, args ...any) (out T) {
	t.Helper()
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), sql, args...).Scan(&out))
	return out
}
