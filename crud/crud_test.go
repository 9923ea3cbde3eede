package crud_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/capture"
	"lodestone/crud/pdf"
	"lodestone/crud/viewer"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) {
	pdf.Main()
	test.Trust()
	enginetest.Main(m)
}

const site = "https://links.example.com"

// capturing lets tests submit as much as they like.
var capturing = capture.Config{Forms: 1000, Mails: 1000, VerificationTime: 24 * time.Hour}

// testTimeout bounds a wait for what must happen; it is no measure of speed.
const testTimeout = enginetest.Timeout

// openings is how often a test may open one link.
const openings = 60

var viewing = viewer.Config{Openings: openings, Sending: 100, PerAddr: 100}

// fixture is the service over HTTP.
type fixture struct {
	url      string
	db       *postgres.Pool
	accounts *account.Accounts
	verifier *auth.Verifier
	tokens   *token.Ring
	http     *http.Client
	log      *enginetest.Log
	api      *api.API
	service  *crud.Service
}

// shared is the service that start returns.
var shared struct {
	sync.Mutex
	f *fixture
}

// start returns a service that tests share, on a database that they share: for tests of accounts of
// their own. With other settings, it is a service of the test's own, on that database.
func start(t testing.TB, change ...func(*crud.Config)) *fixture {
	t.Helper()
	db := enginetest.SharedPostgres(t)
	if len(change) > 0 {
		return startOn(t, db, change...)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.f == nil {
		dir, err := os.MkdirTemp("", "lodestone-erasures-")
		require.NoError(t, err)
		enginetest.AtEnd(func() { _ = os.RemoveAll(dir) })
		shared.f = newFixture(t, db, enginetest.AtEnd, func(c *crud.Config) { c.Erasure.Log = dir })
	}
	return shared.f
}

// startAlone returns a service on a database of its own: for tests that look at all accounts, or
// start what works for all.
func startAlone(t testing.TB, change ...func(*crud.Config)) *fixture {
	t.Helper()
	return startOn(t, enginetest.MigratedPostgres(t), change...)
}

// startOn starts a service on a migrated database.
func startOn(t testing.TB, db *postgres.Pool, change ...func(*crud.Config)) *fixture {
	t.Helper()
	return newFixture(t, db, t.Cleanup,
		append([]func(*crud.Config){func(c *crud.Config) { c.Erasure.Log = t.TempDir() }}, change...)...)
}

func newFixture(t testing.TB, db *postgres.Pool, atEnd func(func()), change ...func(*crud.Config)) *fixture {
	t.Helper()
	config := crud.Config{PublicURL: site + "/", MaxFileBytes: 5 << 20, Webhooks: webhooks(),
		Plans:   plan.Config{Plans: plan.Plans{Free: plan.Limits{GenericLinks: 3}, Pro: plan.Limits{GenericLinks: 50}}},
		Capture: capturing, Viewer: viewing}
	for _, c := range change {
		c(&config)
	}
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	f := &fixture{db: db, accounts: account.New(db), tokens: tokens, log: &enginetest.Log{}}
	log := slog.New(slog.NewJSONHandler(f.log, nil))
	f.verifier = auth.NewVerifier(db, log)
	service, err := crud.New(config, crud.Deps{Postgres: db, Tokens: tokens, Log: log,
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	atEnd(service.Close)
	a := api.New(api.Deps{Verifier: f.verifier, Log: log})
	require.NoError(t, service.Register(a))
	server := httptest.NewServer(a)
	atEnd(server.Close)
	f.url, f.http, f.api, f.service = server.URL, server.Client(), a, service
	return f
}

// webhooks are settings of webhooks that may reach the tests' own servers.
func webhooks() webhook.Config {
	return webhook.Config{
		AllowNetworks: []string{"127.0.0.0/8"}, MaxEndpoints: 20, Concurrency: 8, PerEndpoint: 4,
		Timeout: 10 * time.Second, SessionIdle: 30 * time.Minute,
	}
}

// user is an account with a key.
type user struct {
	clienttest.Client
	fixture *fixture
	account uuid.UUID
	keyID   uuid.UUID
	key     string
}

func (f *fixture) user(t testing.TB, plan account.Plan, scopes ...auth.Scope) *user {
	t.Helper()
	id, err := f.accounts.Create(t.Context(), "Test", plan)
	require.NoError(t, err)
	return f.userOf(t, id, scopes...)
}

func (f *fixture) userOf(t testing.TB, account uuid.UUID, scopes ...auth.Scope) *user {
	t.Helper()
	if scopes == nil {
		scopes = auth.Scopes()
	}
	key, err := f.accounts.CreateKey(t.Context(), account, "test", scopes...)
	require.NoError(t, err)
	return &user{clienttest.New(client.Config{URL: f.url, Key: key.Text, HTTP: f.http}), f, account, key.ID, key.Text}
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) problem(t *testing.T) problem.Problem {
	t.Helper()
	require.Equal(t, problem.ContentType, r.header.Get("Content-Type"), r.body)
	var p problem.Problem
	require.NoError(t, json.Unmarshal([]byte(r.body), &p), r.body)
	require.Equal(t, r.status, p.Status)
	require.Less(t, p.Status, 500, r.body)
	return p
}

func (r reply) object(t *testing.T) map[string]any {
	t.Helper()
	require.Less(t, r.status, 300, r.body)
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.body), &out), r.body)
	return out
}

// send makes a request with headers as name, value, …
func (u *user) send(t *testing.T, method, path string, body io.Reader, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, u.fixture.url+path, body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+u.key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := u.fixture.http.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotEmpty(t, res.Header.Get(api.RequestIDHeader))
	return reply{res.StatusCode, res.Header, string(text)}
}

func (u *user) post(t *testing.T, path, body string) reply {
	t.Helper()
	return u.send(t, "POST", path, strings.NewReader(body), "Content-Type", "application/json")
}

func (u *user) get(t *testing.T, path string) reply {
	t.Helper()
	return u.send(t, "GET", path, http.NoBody)
}

func (u *user) patch(t *testing.T, path, body string, header ...string) reply {
	t.Helper()
	return u.send(t, "PATCH", path, strings.NewReader(body),
		append([]string{"Content-Type", "application/json"}, header...)...)
}

func (u *user) remove(t *testing.T, path string, header ...string) reply {
	t.Helper()
	return u.send(t, "DELETE", path, http.NoBody, header...)
}

func (u *user) link(t *testing.T, magnet string) client.GenericLink {
	t.Helper()
	l, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet})
	require.NoError(t, err)
	return l
}

func (u *user) accessLink(t *testing.T, magnet string) client.AccessLink {
	t.Helper()
	l, err := u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: magnet, Email: "jo@example.com"})
	require.NoError(t, err)
	return l
}

// submit adds a submission to a link, as its landing page would, with an access link for it.
func (u *user) submit(t *testing.T, link client.GenericLink, email string, at time.Time) (submission, access string) {
	t.Helper()
	s, a := uuid.NewString(), uuid.NewString()
	_, err := u.fixture.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at)
		VALUES ($1, $2, $3, $4, lower($4), $5)`, s, u.account, link.ID, email, at)
	require.NoError(t, err)
	_, err = u.fixture.db.Unscoped().Exec(t.Context(), `INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, $4, $5, $6, lower($6), sha256($1::uuid::text::bytea), '', 0)`, a, u.account, link.LeadMagnetID, link.ID, s, email)
	require.NoError(t, err)
	return s, a
}

// dump returns every row of every table of accounts, or only those of one account.
func (f *fixture) dump(t *testing.T, of ...uuid.UUID) string {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(), `SELECT table_name::text FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "access_links")
	var parts []string
	for _, table := range append(tables, "accounts") {
		column := map[bool]string{true: "id", false: "account_id"}[table == "accounts"]
		parts = append(parts, `SELECT '`+table+` ' || r::text FROM "`+table+`" r WHERE $1::uuid IS NULL OR `+column+` = $1`)
	}
	var account *uuid.UUID
	if len(of) > 0 {
		account = &of[0]
	}
	rows, err = f.db.Unscoped().Query(t.Context(), strings.Join(parts, " UNION ALL ")+" ORDER BY 1", account)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n") + "\n"
}

// unlogged is a dump without the audit log, which keeps the ids of what was deleted.
func (f *fixture) unlogged(t *testing.T) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^audit_log .*\n`).ReplaceAllString(f.dump(t), "")
}

func (f *fixture) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// count returns how many rows of a table are of the user's account.
func (u *user) count(t *testing.T, table string) int {
	t.Helper()
	return u.fixture.count(t, table+" WHERE account_id = '"+u.account.String()+"'")
}

func (u *user) magnet(t testing.TB) client.LeadMagnet {
	t.Helper()
	m, err := u.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "The Complete Guide"})
	require.NoError(t, err)
	return m
}

func fields(p problem.Problem) string {
	names := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		names[i] = e.Field
	}
	return strings.Join(names, " ")
}

// fillIn sends the form of a landing page.
func (f *fixture) fillIn(t *testing.T, slug, email string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/l/"+slug,
		strings.NewReader(url.Values{"email": {email}}.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := f.http.Transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
}
