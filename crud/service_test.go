package crud_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	good := crud.Config{PublicURL: "https://links.example.com/x", MaxFileBytes: 1, Capture: capturing,
		Viewer: viewing, Webhooks: webhooks()}
	require.NoError(t, good.Validate())
	bad := crud.Config{PublicURL: "links.example.com", QueryURL: "query:8080", MaxFileBytes: 0,
		Addresses: clientaddr.Config{TrustedProxies: []string{"x"}}}
	err := bad.Validate()
	require.True(t, config.IsInvalid(err))
	for _, setting := range []string{"--public-url", "--query-url", "--magnet-max-file-bytes",
		"--capture-forms-per-hour", "--trusted-proxies"} {
		require.ErrorContains(t, err, setting)
	}
	_, err = crud.New(bad, crud.Deps{})
	require.Error(t, err)
}

// Where the public URL is https, every answer keeps browsers to it: pages, the API, and what is not
// there.
func TestAnswersRequireTLS(t *testing.T) {
	t.Parallel()
	secure := start(t)
	plain := start(t, func(c *crud.Config) { c.PublicURL = "http://127.0.0.1:8080" })
	// other programs of the machine serve plain HTTP
	local := start(t, func(c *crud.Config) { c.PublicURL = "https://127.0.0.1:8080" })
	for _, path := range []string{"/", "/l/none", "/a/none", "/api/v1/account", "/api/v1/none", "/none"} {
		require.Equal(t, []string{"max-age=31536000"},
			secure.public(t, "GET", path).header.Values("Strict-Transport-Security"), path)
		require.Empty(t, plain.public(t, "GET", path).header.Values("Strict-Transport-Security"), path)
		require.Empty(t, local.public(t, "GET", path).header.Values("Strict-Transport-Security"), path)
	}
}

// Requests for analytics go to the query process as they are, and its answers come back so.
func TestAnalyticsArePassedOn(t *testing.T) {
	t.Parallel()
	query := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(api.RequestIDHeader, r.Header.Get(api.RequestIDHeader))
		w.Header().Set("X-Ratelimit-Limit", "60")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
	}))
	defer query.Close()
	f := start(t, func(c *crud.Config) { c.QueryURL = query.URL })
	u := f.user(t, account.Free)
	r := u.send(t, "GET", "/api/v1/analytics/email?email=jo%2B1@example.com", http.NoBody,
		api.RequestIDHeader, "my-request-1")
	require.Equal(t, http.StatusTeapot, r.status)
	require.Equal(t, "GET /api/v1/analytics/email?email=jo%2B1@example.com Bearer "+u.key, r.body)
	require.Equal(t, []string{"my-request-1"}, r.header.Values(api.RequestIDHeader))
	require.Equal(t, "60", r.header.Get("X-Ratelimit-Limit"))
	require.Equal(t, http.StatusTeapot, u.get(t, "/api/v1/analytics").status)
	query.Close()
	r = u.get(t, "/api/v1/analytics?email=jo@example.com")
	require.Equal(t, http.StatusServiceUnavailable, r.status)
	require.Contains(t, r.body, string(problem.Unavailable))
	require.NotContains(t, f.log.String(), "jo@")
	require.NotContains(t, f.log.String(), "jo%2B")
	require.NotContains(t, f.log.String(), u.key)
}

func TestAnalyticsWithoutQueryProcess(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Free)
	require.Equal(t, problem.NotFound, u.get(t, "/api/v1/analytics").problem(t).Code)
}

// With Postgres gone every operation says so at once, and works again when it is back.
func TestPostgresGone(t *testing.T) {
	t.Parallel()
	_, database, stop := enginetest.RunPostgres(t)
	db := enginetest.PostgresPool(t, database)
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	config := crud.Config{PublicURL: site, MaxFileBytes: 1 << 20, Capture: capturing,
		Viewer: viewing, Webhooks: webhooks()}
	config.Erasure.Log = t.TempDir()
	service, err := crud.New(config, crud.Deps{Postgres: db, Tokens: tokens, Log: log,
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	a := api.New(api.Deps{Verifier: auth.NewVerifier(db, log), Log: log})
	require.NoError(t, service.Register(a))
	web := httptest.NewServer(a)
	defer web.Close()
	f := &fixture{url: web.URL, db: db, accounts: account.New(db), http: web.Client(), log: &enginetest.Log{}}
	u := f.user(t, account.Team)
	all := operations(t, u)
	stop()
	for _, o := range all {
		r := u.run(t, o)
		require.Equal(t, http.StatusServiceUnavailable, r.status, "%s %s: %s", o.method, o.path, r.body)
		require.Contains(t, r.body, `"code":"unavailable"`)
		require.NotEmpty(t, r.header.Get("Retry-After"))
	}
	_, err = u.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "x"})
	require.True(t, problem.Is(err, problem.Unavailable))
}
