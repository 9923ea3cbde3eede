package landing_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/capture"
	"lodestone/crud/landing"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const (
	site      = "https://links.example.com"
	collector = "https://events.example.com"
)

// fixture is the pages over HTTP on a database of its own, with one account. Mails wait in the
// queue.
type fixture struct {
	url     string
	db      *postgres.Pool
	tokens  *token.Ring
	keys    string // setting of tokens
	config  capture.Config
	handler http.Handler
	http    *http.Client
	account uuid.UUID
	key     string
	log     *enginetest.Log
	unsent  string // address that no mail can be sent to

	mu    sync.Mutex
	clock time.Time
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

// pass lets time pass.
func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

func start(t *testing.T, change ...func(*capture.Config)) *fixture {
	t.Helper()
	config := capture.Config{Forms: 1000, Mails: 1000, VerificationTime: 24 * time.Hour}
	for _, c := range change {
		c(&config)
	}
	require.NoError(t, config.Validate())
	db := enginetest.MigratedPostgres(t)
	f := &fixture{db: db, log: &enginetest.Log{}, config: config, clock: time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)}
	f.keys = token.NewKeys(1).Keys
	f.serve(t)
	accounts := account.New(db)
	var err error
	f.account, err = accounts.Create(t.Context(), "Acme Ltd", account.Team)
	require.NoError(t, err)
	key, err := accounts.CreateKey(t.Context(), f.account, "test", auth.Scopes()...)
	require.NoError(t, err)
	f.key = key.Text
	return f
}

// serve starts a server of the pages with the present token keys.
func (f *fixture) serve(t *testing.T) {
	t.Helper()
	db, config := f.db, f.config
	var err error
	f.tokens, err = token.Config{Keys: f.keys}.Ring()
	require.NoError(t, err)
	log := slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	jobs, err := queue.New(queue.Config{}, queue.Deps{Postgres: db, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	mails, err := mail.New(mail.Config{}, mail.Deps{Queue: jobs, Tokens: f.tokens, Site: site, Log: log,
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	pages, err := web.New(web.Deps{Site: site, Log: log})
	require.NoError(t, err)
	addresses, err := clientaddr.Config{TrustedProxies: []string{"127.0.0.1", "::1"}}.Finder()
	require.NoError(t, err)
	taking := capture.New(config, capture.Deps{Postgres: db, Limiter: ratelimit.NewVisitors(db, f.tokens),
		Mail: picky{mails, f}, Tokens: f.tokens, Site: site, Now: f.now})
	bots, err := bot.NewRules()
	require.NoError(t, err)
	visitors, err := landing.New(landing.Deps{
		Postgres: db, Pages: pages, Capture: taking, Tokens: f.tokens, Addresses: addresses, Bots: bots, Site: site,
		Collector: collector, Now: f.now,
	})
	require.NoError(t, err)
	a := api.New(api.Deps{Verifier: auth.NewVerifier(db, log), Log: log})
	visitors.Register(a)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	f.url, f.http, f.handler = server.URL, client, a
}

// picky is the queue in front of a server that does not take every address.
type picky struct {
	*mail.Queue
	f *fixture
}

func (p picky) Reaches(_ context.Context, address string) bool { return address != p.f.unsent }

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func one[T any](t *testing.T, f *fixture, sql string, args ...any) (out T) {
	t.Helper()
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), sql, args...).Scan(&out))
	return out
}

// link is a generic link with a document of 12 pages. set holds assignments of its columns.
func (f *fixture) link(t *testing.T, set ...string) (slug string) {
	t.Helper()
	id, magnet := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	slug = "guide-" + strings.ToLower(id.String()[24:])
	f.exec(t, `INSERT INTO lead_magnets (id, account_id, title, description, file_version) VALUES ($1, $2, 'The Complete Guide', 'What we learnt in ten years.', 1)`, magnet, f.account)
	f.exec(t, `INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256)
		VALUES ($1, 1, $2, 'guide.pdf', 'application/pdf', 2412345, 12, '')`, magnet, f.account)
	f.exec(t, `INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)`,
		id, f.account, magnet, slug)
	if len(set) > 0 {
		f.exec(t, `UPDATE generic_links SET `+strings.Join(set, ", ")+` WHERE id = $1`, id)
	}
	return slug
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (f *fixture) do(t *testing.T, method, path string, form url.Values, header ...string) reply {
	t.Helper()
	r, err := f.send(t.Context(), method, path, form, header...)
	require.NoError(t, err)
	return r
}

func (f *fixture) send(ctx context.Context, method, path string, form url.Values, header ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return reply{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := f.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text)}, err
}

func (f *fixture) get(t *testing.T, path string, header ...string) reply {
	t.Helper()
	r := f.do(t, "GET", path, nil, header...)
	if r.status >= 300 && r.status < 400 {
		return r
	}
	require.Contains(t, r.header.Get("Content-Type"), "text/html", path)
	ancestors := "'none'"
	if strings.Contains(path, "preview=") && r.status < 400 { // the dashboard shows it
		ancestors = "'self'"
	}
	require.Contains(t, r.header.Get("Content-Security-Policy"), "frame-ancestors "+ancestors)
	require.Equal(t, "same-origin", r.header.Get("Referrer-Policy"))
	require.Empty(t, r.header.Values("Set-Cookie"))
	return r
}

// post sends a form as a page of ours does. fields are name, value, …
func (f *fixture) post(t *testing.T, path string, fields ...string) reply {
	t.Helper()
	return f.do(t, "POST", path, values(fields...), "Sec-Fetch-Site", "same-origin")
}

func values(fields ...string) url.Values {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return form
}

// sent is a mail that waits in the queue.
type sent struct {
	Kind, To, URL, Code, Language string
}

func (f *fixture) mails(t *testing.T) []sent {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(),
		`SELECT (args ->> 'id')::uuid, decode(args ->> 'sealed', 'base64') FROM river_job WHERE kind = 'sealed_mail' ORDER BY id`)
	require.NoError(t, err)
	type sealed struct {
		ID   uuid.UUID
		Mail []byte
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealed])
	require.NoError(t, err)
	out := make([]sent, len(jobs))
	for i, j := range jobs {
		text, err := f.tokens.Open("mails", j.Mail, j.ID[:])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &out[i], json.MatchCaseInsensitiveNames(true)), string(text))
	}
	return out
}

// last returns the newest mail.
func (f *fixture) last(t *testing.T) sent {
	t.Helper()
	all := f.mails(t)
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

// path returns the path of a URL in a mail.
func (m sent) path(t *testing.T) string {
	t.Helper()
	path, found := strings.CutPrefix(m.URL, site)
	require.True(t, found, m.URL)
	return path
}

func (r reply) location(t *testing.T) string {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, r.status, r.body)
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	return r.header.Get("Location")
}
