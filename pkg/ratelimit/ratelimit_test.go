package ratelimit_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func database(t testing.TB) (url string, pool *postgres.Pool) {
	t.Helper()
	url = enginetest.MigratedPostgresURL(t)
	return url, enginetest.PostgresPool(t, url)
}

// keys tells who presents a key: account and key are ids, with a dot between.
type keys struct{}

func (keys) Verify(_ context.Context, key string) (auth.Identity, error) {
	account, id, found := strings.Cut(key, ".")
	if !found {
		_, err := auth.NewVerifier(nil, nil).Verify(context.Background(), key)
		return auth.Identity{}, err
	}
	return auth.Identity{AccountID: uuid.MustParse(account), KeyID: uuid.MustParse(id), Scopes: []auth.Scope{auth.Read}},
		nil
}

// replica is one of several processes that serve the same API.
func replica(t *testing.T, l *ratelimit.Limiter) *httptest.Server {
	t.Helper()
	a := api.New(api.Deps{Verifier: keys{}, Log: quiet(), Limits: l})
	register := func(path string, limit ratelimit.Name) {
		api.Register(a, api.Operation{ID: strings.Trim(path, "/"), Method: "GET", Path: path, Scope: auth.Read, Limit: limit},
			func(context.Context, *struct {
				Wrong *int `query:"wrong"`
			}) (*api.Answer[string], error) {
				return api.OK("here"), nil
			})
	}
	register("/things", "")
	register("/analytics", ratelimit.Analytics)
	register("/email", ratelimit.AnalyticsEmail)
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s
}

// reply is an answer without its body.
type reply struct {
	StatusCode int
	Header     http.Header
}

func get(t *testing.T, s *httptest.Server, path, key string) reply {
	t.Helper()
	return send(t, s, http.MethodGet, path, "Bearer "+key)
}

func send(t *testing.T, s *httptest.Server, method, path, authorization string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
	require.NoError(t, err)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := s.Client().Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return reply{res.StatusCode, res.Header}
}

func key(account uuid.UUID) string { return account.String() + "." + uuid.NewString() }

// Every answer tells whoever has a good key where it stands, and what is no operation counts as
// well: everything else, for the key. An answer to no one shows the limit untouched.
func TestEveryAnswerTellsWhereItsSenderStands(t *testing.T) {
	t.Parallel()
	url, _ := database(t)
	s := replica(t, ratelimit.New(ratelimit.Config{Requests: 10, Analytics: 60, AnalyticsEmail: 7},
		ratelimit.Deps{Postgres: enginetest.PostgresPool(t, url), Log: quiet()}).WithLongTimeouts())
	mine := key(uuid.New())
	left := 10
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/things", 200}, {"GET", "/nothing", 404}, {"POST", "/things", 405}, {"OPTIONS", "/things", 204},
		{"GET", "/things?wrong=x", 400},
		{"GET", "/api/v1/openapi.json", 200}, {"GET", "/api/v1/docs", 200}, {"GET", "/api/v1/problems/not_found", 200},
		{"GET", "/api/v1/problems/x", 404},
	} {
		left--
		res := send(t, s, c.method, c.path, "Bearer "+mine)
		require.Equal(t, c.status, res.StatusCode, "%v", c)
		require.Equal(t, strconv.Itoa(left), res.Header.Get("X-RateLimit-Remaining"), "%v", c)
		require.Contains(t, res.Header.Get("RateLimit"), "r="+strconv.Itoa(left)+";", "%v", c)
		for _, key := range []string{"", "Bearer x", "Basic x"} {
			res := send(t, s, c.method, c.path, key)
			require.Equal(t, "10", res.Header.Get("X-RateLimit-Remaining"), "%v", c)
			require.Equal(t, `"requests";q=10;w=60`, res.Header.Get("RateLimit-Policy"), "%v", c)
		}
	}
	require.Equal(t, 200, get(t, s, "/things", mine).StatusCode)
	for _, path := range []string{"/things", "/nothing", "/api/v1/openapi.json", "/api/v1/docs",
		"/api/v1/problems/not_found"} {
		res := get(t, s, path, mine)
		require.Equal(t, 429, res.StatusCode, path)
		require.NotEmpty(t, res.Header.Get("Retry-After"), path)
		require.Equal(t, "0", res.Header.Get("X-RateLimit-Remaining"), path)
	}
}

var settings = ratelimit.Config{Requests: 100, Analytics: 60, AnalyticsEmail: 7, AnalyticsQuery: 60}

func TestExactAcrossReplicas(t *testing.T) {
	t.Parallel()
	url, _ := database(t)
	var replicas []*httptest.Server
	for range 3 {
		replicas = append(replicas,
			replica(t, ratelimit.New(settings, ratelimit.Deps{Postgres: enginetest.PostgresPool(t, url),
				Log: quiet()}).WithLongTimeouts()))
	}
	account := uuid.New()
	one, other := key(account), key(account)
	for _, test := range []struct {
		path  string
		keys  []string
		quota int
	}{
		{"/things", []string{one}, 100}, // of a key,
		{"/things", []string{other}, 100},
		{"/analytics", []string{one, other}, 60}, // and of an account
		{"/email", []string{other, one}, 7},
	} {
		var allowed, refused atomic.Int64
		remaining := sync.Map{}
		var running sync.WaitGroup
		for i := range test.quota + 50 {
			running.Go(func() {
				res := get(t, replicas[i%len(replicas)], test.path, test.keys[i%len(test.keys)])
				switch res.StatusCode {
				case http.StatusOK:
					allowed.Add(1)
					_, twice := remaining.LoadOrStore(res.Header.Get("X-RateLimit-Remaining"), true)
					if twice {
						t.Error("two requests were given the same place")
					}
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Error(res.StatusCode)
				}
			})
		}
		running.Wait()
		require.EqualValues(t, test.quota, allowed.Load(), test.path)
		require.EqualValues(t, 50, refused.Load(), test.path)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	s := replica(t, ratelimit.New(ratelimit.Config{Requests: 3, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts())
	k := key(uuid.New())
	number := func(res reply, name string) int {
		n, err := strconv.Atoi(res.Header.Get(name))
		require.NoError(t, err, "%s: %v", name, res.Header)
		return n
	}
	for i, test := range []struct {
		path   string
		status int
	}{{"/things", 200}, {"/things?wrong=x", 400}, {"/things?unknown=1", 400}, {"/things", 429}, {"/things", 429}} {
		res := get(t, s, test.path, k)
		left := max(0, 2-i)
		require.Equal(t, test.status, res.StatusCode)
		require.Equal(t, `"requests";q=3;w=60`, res.Header.Get("RateLimit-Policy"))
		require.Regexp(t, `^"requests";r=`+strconv.Itoa(left)+`;t=([1-9]|[1-5]\d|60)$`, res.Header.Get("RateLimit"))
		require.Equal(t, 3, number(res, "X-RateLimit-Limit"))
		require.Equal(t, left, number(res, "X-RateLimit-Remaining"))
		require.InDelta(t, time.Now().Unix()+30, number(res, "X-RateLimit-Reset"), 45)
		if test.status != 429 {
			require.Empty(t, res.Header.Get("Retry-After"))
			continue
		}
		wait := number(res, "Retry-After")
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, 60)
		require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	}
	// Answers that count for no one tell the limit, too.
	for path, name := range map[string]string{"/things": "requests", "/analytics": "analytics", "/nothing": "requests"} {
		res := get(t, s, path, "lsk_wrong")
		require.GreaterOrEqual(t, res.StatusCode, 401)
		require.Contains(t, res.Header.Get("RateLimit-Policy"), `"`+name+`"`)
		require.NotEqual(t, "0", res.Header.Get("X-RateLimit-Remaining"))
	}
}

func TestWindowEnds(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	l := ratelimit.New(ratelimit.Config{Requests: 2, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts()
	who := auth.Identity{AccountID: uuid.New(), KeyID: uuid.New()}
	take := func(l *ratelimit.Limiter) ratelimit.State { return l.Take(t.Context(), ratelimit.Requests, who) }
	require.False(t, take(l).Refused)
	pass := func(d string) {
		_, err := pool.Unscoped().Exec(t.Context(),
			`UPDATE visitor_counts SET started = started - $1::interval, ends = ends - $1::interval WHERE subject = $2`, d,
			who.KeyID)
		require.NoError(t, err)
	}
	pass("40 seconds")
	s := take(l)
	require.False(t, s.Refused)
	require.Zero(t, s.Remaining)
	require.LessOrEqual(t, s.Reset, 20*time.Second, "the window has begun with its first request")
	require.True(t, take(l).Refused)
	require.True(t, take(l).Refused)
	pass("20 seconds")
	fresh := ratelimit.New(ratelimit.Config{Requests: 2, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts()
	s = take(fresh)
	require.False(t, s.Refused)
	require.Equal(t, 1, s.Remaining)
	require.Greater(t, s.Reset, 30*time.Second)
	var rows int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `SELECT count(*) FROM visitor_counts`).Scan(&rows))
	require.Equal(t, 1, rows, "windows do not pile up")
}

// Someone who looks at screens takes nothing of what the account's keys may ask, nor is stopped by
// it.
func TestQuestionsOfASessionAreItsOwn(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	l := ratelimit.New(ratelimit.Config{Requests: 5, Analytics: 1, AnalyticsEmail: 1, AnalyticsQuery: 2},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts()
	account := uuid.New()
	program, person := auth.Identity{AccountID: account, KeyID: uuid.New()},
		auth.Identity{AccountID: account, SessionID: uuid.New(), UserID: uuid.New()}
	ask := func(who auth.Identity) (refused bool) {
		return l.Take(t.Context(), ratelimit.AnalyticsQuery, who).Refused
	}
	for range 4 {
		require.False(t, ask(person))
	}
	require.False(t, ask(program))
	require.False(t, ask(program))
	require.True(t, ask(program))
	require.False(t, l.Take(t.Context(), ratelimit.Requests, person).Refused, "the fifth")
	require.True(t, ask(person))
	colleague := auth.Identity{AccountID: account, SessionID: uuid.New(), KeyID: program.KeyID}
	require.False(t, ask(colleague))
}

// Who is over the limit costs Postgres nothing more until the window ends.
func TestRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	_, pool := database(t)
	l := ratelimit.New(ratelimit.Config{Requests: 1, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts()
	who := auth.Identity{AccountID: uuid.New(), KeyID: uuid.New()}
	l.Take(t.Context(), ratelimit.Requests, who)
	require.True(t, l.Take(t.Context(), ratelimit.Requests, who).Refused)
	_, err := pool.Unscoped().Exec(t.Context(), `DELETE FROM visitor_counts`)
	require.NoError(t, err)
	require.True(t, l.Take(t.Context(), ratelimit.Requests, who).Refused)
}

func TestStoreDown(t *testing.T) {
	t.Parallel()
	// It takes connections and never says a word.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var asked atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			defer func() { _ = conn.Close() }()
		}
	})
	defer accepting.Wait()
	defer func() { _ = silent.Close() }()
	log := &bytes.Buffer{}
	metrics := prometheus.NewRegistry()
	l := ratelimit.New(ratelimit.Config{Requests: 3, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: enginetest.PostgresPool(t, "postgres://u:secret@"+silent.Addr().String()+"/d"),
			Log: slog.New(slog.NewTextHandler(log, nil)), Registerer: metrics})
	s := replica(t, l)
	k := key(uuid.New())
	const requests, quota = 20, 3
	for i := range requests {
		res := get(t, s, "/things", k)
		require.Equal(t, `"requests";q=3;w=60`, res.Header.Get("RateLimit-Policy"))
		require.Equal(t, strconv.Itoa(max(0, quota-1-i)), res.Header.Get("X-RateLimit-Remaining"))
		if i < quota {
			require.Equal(t, 200, res.StatusCode)
			continue
		}
		require.Equal(t, 429, res.StatusCode, "the process counts by itself")
		require.NotEmpty(t, res.Header.Get("Retry-After"))
	}
	require.Equal(t, 200, get(t, s, "/things", key(uuid.New())).StatusCode, "each key by itself")
	require.Less(t, asked.Load(), int64(requests), "it is left alone for a while after it failed")
	page := httptest.NewRecorder()
	httpserver.Admin(metrics, nil, httpserver.AdminConfig{}).ServeHTTP(page,
		httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	require.Contains(t, page.Body.String(),
		`lodestone_ratelimit_requests_total{limit="requests",outcome="unchecked"} `+strconv.Itoa(quota+1)+"\n")
	require.Contains(t, page.Body.String(), `lodestone_ratelimit_requests_total{limit="requests",outcome="refused"} `+
		strconv.Itoa(requests-quota)+"\n")
	require.Contains(t, page.Body.String(), `lodestone_ratelimit_requests_total{limit="analytics",outcome="unchecked"} 0`)
	require.Contains(t, log.String(), "by this process alone")
	require.NotContains(t, log.String(), "secret")
}

// A process that loses the shared counter goes on from where the window stood, and no one gets
// another window by it.
func TestStoreFailsWithinAWindow(t *testing.T) {
	t.Parallel()
	url, _ := database(t)
	pool := enginetest.PostgresPool(t, url)
	l := ratelimit.New(ratelimit.Config{Requests: 3, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()}).WithLongTimeouts()
	one, other := auth.Identity{AccountID: uuid.New(), KeyID: uuid.New()},
		auth.Identity{AccountID: uuid.New(), KeyID: uuid.New()}
	for left := 2; left > 0; left-- {
		s := l.Take(t.Context(), ratelimit.Requests, one)
		require.False(t, s.Refused)
		require.Equal(t, left, s.Remaining)
	}
	pool.Close()
	s := l.Take(t.Context(), ratelimit.Requests, one)
	require.False(t, s.Refused)
	require.Zero(t, s.Remaining)
	require.True(t, l.Take(t.Context(), ratelimit.Requests, one).Refused)
	require.False(t, l.Take(t.Context(), ratelimit.Requests, other).Refused)
}

// Without the shared counter, an account still has no more processor time than one process gives
// it.
func TestBudgetWithoutTheStore(t *testing.T) {
	t.Parallel()
	pool := enginetest.PostgresPool(t, "postgres://u:secret@127.0.0.1:1/d")
	pool.Close()
	b := ratelimit.NewBudget(pool, ratelimit.ProcessorRule(1))
	one, other := uuid.New(), uuid.New()
	require.Zero(t, b.Wait(t.Context(), one))
	require.Error(t, b.Charge(t.Context(), one, 999))
	require.Zero(t, b.Wait(t.Context(), one))
	require.Error(t, b.Charge(t.Context(), one, 1))
	require.Positive(t, b.Wait(t.Context(), one))
	require.LessOrEqual(t, b.Wait(t.Context(), one), ratelimit.Window)
	require.Zero(t, b.Wait(t.Context(), other))
}

func TestConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, settings.Validate())
	err := ratelimit.Config{}.Validate()
	for _, name := range []string{"--limit-requests-per-minute", "--limit-analytics-per-minute",
		"--limit-analytics-email-per-minute", "--limit-analytics-query-per-minute"} {
		require.ErrorContains(t, err, name)
	}
}
