package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

const testTimeout = enginetest.Timeout

// clock is the real one, put forward by the test.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }
func (c *clock) until(t *testing.T, at any) { // a time of an answer, and a little more
	t.Helper()
	due, err := time.Parse(time.RFC3339, at.(string))
	require.NoError(t, err)
	c.advance(due.Sub(c.now()) + 10*time.Millisecond)
}

// rig is the API of webhooks, with one account and what delivers.
type rig struct {
	t      *testing.T
	db     *postgres.Pool
	hooks  *webhook.Webhooks
	tokens *token.Ring // of processes that are made next
	clock  *clock
	owner  uuid.UUID
	url    string
	key    string
	log    *enginetest.Log
}

func settings() webhook.Config {
	return webhook.Config{
		AllowNetworks: []string{"127.0.0.0/8"}, MaxEndpoints: 10, Concurrency: 32, PerEndpoint: 2,
		Timeout: 10 * time.Second, SessionIdle: 30 * time.Minute,
	}
}

// newRig makes everything, and starts what delivers unless change returns false.
func newRig(t *testing.T, change ...func(*webhook.Config)) *rig {
	t.Helper()
	r := newQuietRig(t, change...)
	r.deliver(r.hooks)
	return r
}

// newQuietRig makes a rig in which nothing is delivered.
func newQuietRig(t *testing.T, change ...func(*webhook.Config)) *rig {
	t.Helper()
	c := settings()
	for _, f := range change {
		f(&c)
	}
	require.NoError(t, c.Validate())
	r := &rig{t: t, db: enginetest.MigratedPostgres(t), clock: &clock{}, log: &enginetest.Log{},
		tokens: ring(t, token.NewKeys(1).Keys)}
	r.hooks = r.more(c)
	r.owner = newAccount(t, r.db)
	r.key = r.newKey(r.owner)
	r.serve(r.hooks)
	return r
}

// serve lets requests go to a process.
func (r *rig) serve(w *webhook.Webhooks) {
	r.t.Helper()
	a := api.New(api.Deps{Verifier: auth.NewVerifier(r.db, r.logger()), Log: r.logger()})
	w.Register(a)
	server := httptest.NewServer(a)
	r.t.Cleanup(server.Close)
	r.url = server.URL
}

// ring returns the keys of a setting.
func ring(t *testing.T, keys ...string) *token.Ring {
	t.Helper()
	tokens, err := token.Config{Keys: strings.Join(keys, ",")}.Ring()
	require.NoError(t, err)
	return tokens
}

func (r *rig) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// more makes the webhooks of another process.
func (r *rig) more(c webhook.Config) *webhook.Webhooks {
	r.t.Helper()
	w, err := webhook.New(c, webhook.Deps{Postgres: r.db, Tokens: r.tokens, Log: r.logger(), Now: r.clock.now})
	require.NoError(r.t, err)
	r.t.Cleanup(w.Close)
	return w
}

// deliver starts what delivers in a process, until the test ends or stop is called.
func (r *rig) deliver(w *webhook.Webhooks) (stop func()) {
	r.t.Helper()
	d := w.Deliverer()
	require.NoError(r.t, d.Start(r.t.Context()))
	stop = sync.OnceFunc(func() { require.NoError(r.t, d.Stop(context.Background())) })
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) newKey(owner uuid.UUID, scopes ...auth.Scope) string {
	r.t.Helper()
	if scopes == nil {
		scopes = auth.Scopes()
	}
	key, err := account.New(r.db).CreateKey(r.t.Context(), owner, "test", scopes...)
	require.NoError(r.t, err)
	return key.Text
}

type object = map[string]any

// ask makes a request and returns the answer's status, body and ETag.
func (r *rig) ask(method, path, body string, header ...string) (int, object, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+"/api/v1/webhooks"+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer "+r.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(r.t, err)
	var out object
	if len(text) > 0 {
		require.NoError(r.t, json.Unmarshal(text, &out), string(text))
	}
	return answer.StatusCode, out, answer.Header.Get("ETag")
}

// must is ask for an answer of the 200s.
func (r *rig) must(method, path, body string) object {
	r.t.Helper()
	status, out, _ := r.ask(method, path, body)
	require.Less(r.t, status, 300, out)
	return out
}

// create makes an endpoint at a URL and returns its id and secret.
func (r *rig) create(url string, kinds ...webhook.Kind) (id, secret string) {
	r.t.Helper()
	if kinds == nil {
		kinds = []webhook.Kind{webhook.KindFormVerified}
	}
	text, err := json.Marshal(object{"url": url, "kinds": kinds})
	require.NoError(r.t, err)
	out := r.must("POST", "", string(text))
	return out["id"].(string), out["secret"].(string)
}

func (r *rig) emit(n int) {
	r.t.Helper()
	events := make([]webhook.FormVerified, n)
	for i := range events {
		events[i] = someEvent()
	}
	r.emitAll(events...)
}

func (r *rig) emitAll(events ...webhook.FormVerified) {
	r.t.Helper()
	require.NoError(r.t, r.db.Account(r.t.Context(), r.owner, func(tx pgx.Tx) error {
		return webhook.Emit(r.t.Context(), tx, r.tokens, r.owner, events...)
	}))
}

// only waits until the log of an endpoint has one delivery that a condition holds for.
func (r *rig) only(id string, what string, holds func(d object) bool) object {
	r.t.Helper()
	var found object
	require.Eventually(r.t, func() bool {
		list := r.must("GET", "/"+id+"/deliveries", "")["data"].([]any)
		require.Len(r.t, list, 1)
		found = list[0].(object)
		return holds(found)
	}, testTimeout, 20*time.Millisecond, what)
	return found
}

// total returns how many deliveries of an endpoint are in a state.
func (r *rig) total(id, state string) int {
	r.t.Helper()
	return int(r.must("GET", "/"+id+"/deliveries?state="+state, "")["pagination"].(object)["total"].(float64))
}

// delivered waits until so many deliveries of an endpoint are written down as such, which is a
// moment after they arrived: until then each is claimed, and once the test's clock has left its
// claim behind it is sent again.
func (r *rig) delivered(id string, n int) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return r.total(id, "delivered") == n }, testTimeout, 20*time.Millisecond)
}

func tried(n int) func(object) bool {
	return func(d object) bool { return len(d["attempts"].([]any)) == n }
}

func inState(state string) func(object) bool {
	return func(d object) bool { return d["state"] == state }
}

func attempt(d object, i int) object { return d["attempts"].([]any)[i].(object) }

// request is a request that a receiver got.
type request struct {
	header http.Header
	body   []byte
}

// verify checks a request as a receiver would, by the library of the specification.
func (q request) verify(t *testing.T, secret string) {
	t.Helper()
	w, err := standard.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, w.VerifyIgnoringTimestamp(q.body, q.header))
}

// receiver is an endpoint that answers as handle says, 204 for nil, and keeps what it got.
type receiver struct {
	url  string
	got  chan request
	stop func()
}

func newReceiver(t *testing.T, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{got: make(chan request, 10_000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		r.got <- request{q.Header.Clone(), body}
		if handle == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		handle(w, q)
	}))
	r.stop = sync.OnceFunc(func() {
		server.CloseClientConnections()
		server.Close()
	})
	t.Cleanup(r.stop)
	r.url = server.URL + "/hook"
	return r
}

func (r *receiver) next(t *testing.T) request {
	t.Helper()
	select {
	case q := <-r.got:
		return q
	case <-time.After(testTimeout):
		require.Fail(t, "nothing arrived")
		return request{}
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
