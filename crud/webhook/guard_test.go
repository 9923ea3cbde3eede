package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
)

// A redirect is a failure, and is not followed, wherever it leads.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	other := newReceiver(t, nil)
	for _, code := range []int{301, 302, 303, 307, 308} {
		to := newReceiver(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, other.url, code) })
		id, _ := r.create(to.url)
		d := r.must("POST", "/"+id+"/test", "")
		require.Equal(t, "failed", d["state"])
		require.EqualValues(t, code, attempt(d, 0)["status_code"])
		require.Contains(t, attempt(d, 0)["error"], "redirects are not followed")
	}
	require.Empty(t, other.got)
}

// A name is judged by what it resolves to when it is dialled, and the log does not tell to what.
func TestInwardName(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t, func(c *webhook.Config) { c.AllowNetworks = []string{"127.1.0.0/16"} })
	inside := newReceiver(t, nil)
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(inside.url, "http://"), "/hook"))
	require.NoError(t, err)
	id, _ := r.create("http://inside.example:" + port + "/")
	// The name of this machine is one that the resolver of the system knows without asking anybody.
	endpoint := uuid.MustParse(id)
	sealed, err := r.tokens.Seal("webhook addresses", []byte("http://localhost:"+port+"/"), endpoint[:])
	require.NoError(t, err)
	_, err = r.db.Unscoped().Exec(t.Context(), "UPDATE webhook_endpoints SET url_sealed = $1", sealed)
	require.NoError(t, err)
	d := r.must("POST", "/"+id+"/test", "")
	require.Equal(t, "failed", d["state"])
	require.Contains(t, attempt(d, 0)["error"], "no address on the public internet")
	require.NotContains(t, attempt(d, 0)["error"], "127.0.0.1")
	require.Empty(t, inside.got)
}

// Whatever an endpoint does, an attempt ends in time, reads little and says what was wrong.
func TestBadReceivers(t *testing.T) {
	t.Parallel()
	r, hasty := newQuietRig(t), newQuietRig(t, func(c *webhook.Config) { c.Timeout = 2 * time.Second })
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(secure.Close)
	flood := func(w http.ResponseWriter, q *http.Request) {
		block := []byte(strings.Repeat("x", 64<<10))
		for q.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	hang := func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }
	drip := func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	}
	header := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 200<<10)) }
	for name, test := range map[string]struct{ url, state, message string }{
		"endless":      {newReceiver(t, flood).url, "delivered", ""},
		"no answer":    {newReceiver(t, hang).url, "failed", "It did not answer in time."},
		"no end":       {newReceiver(t, drip).url, "delivered", ""}, // its status says that it has the message
		"large header": {newReceiver(t, header).url, "failed", "The connection broke off."},
		"broken": {newReceiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }).url,
			"failed", "The connection broke off."},
		"closed":        {"http://127.0.0.1:1/", "failed", "The connection failed."},
		"own authority": {secure.URL, "failed", "Its certificate is not valid: "},
		"no TLS": {strings.Replace(newReceiver(t, nil).url, "http://", "https://", 1),
			"failed", "It does not speak TLS."},
	} {
		r := r
		if name == "no answer" {
			r = hasty // only time ends it; that of the others is enough for a slow machine
		}
		id, _ := r.create(test.url)
		d := r.must("POST", "/"+id+"/test", "")
		require.Equal(t, test.state, d["state"], name)
		a := attempt(d, 0)
		if test.message != "" {
			require.Contains(t, a["error"], test.message, name)
		}
		if text, ok := a["response"].(string); ok {
			require.LessOrEqual(t, len(text), 1<<10, name)
		}
		r.must("DELETE", "/"+id, "")
	}
}

// unresolved is a resolver that knows no one.
func unresolved() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no such server")
	}}
}

func TestUnknownName(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	w, err := webhook.New(settings(), webhook.Deps{Postgres: r.db, Tokens: r.tokens, Log: r.logger(),
		Now: r.clock.now, Resolver: unresolved()})
	require.NoError(t, err)
	t.Cleanup(w.Close)
	id, _ := r.create("https://unresolved.example/")
	r.deliver(w)
	r.emit(1)
	d := r.only(id, "tried", tried(1))
	require.Equal(t, "Its name could not be resolved.", attempt(d, 0)["error"])
}
