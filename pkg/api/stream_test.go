package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// changing are keys that can end, or be beyond reach, while a stream lasts.
type changing struct {
	mu   sync.Mutex
	keys keys
	err  error
}

func (c *changing) Verify(ctx context.Context, key string) (auth.Identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return auth.Identity{}, c.err
	}
	return c.keys.Verify(ctx, key)
}

func (c *changing) set(k keys, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys, c.err = k, err
}

// source is a source of a test.
type source struct {
	messages chan string
	closed   chan struct{}
}

func (s *source) Next(ctx context.Context) ([]byte, error) {
	select {
	case m := <-s.messages:
		return []byte(m), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *source) Close() { close(s.closed) }

// streaming is a server with one stream, whose source and beats belong to the test.
type streaming struct {
	t      *testing.T
	api    *api.API
	keys   *changing
	source *source
	beats  chan time.Time
	url    string
	http   *httptest.Server
}

func newStreaming(t *testing.T) *streaming {
	t.Helper()
	s := &streaming{
		t: t, beats: make(chan time.Time),
		source: &source{make(chan string), make(chan struct{})},
		keys:   &changing{keys: keys{"read": {AccountID: uuid.New(), Scopes: []auth.Scope{auth.Read}}}},
	}
	s.api = api.New(api.Deps{Verifier: s.keys, Log: slog.New(slog.DiscardHandler),
		Beats: func() (<-chan time.Time, func()) { return s.beats, func() {} }})
	type input struct {
		Fail string `query:"fail"`
	}
	api.RegisterStream(s.api, api.Operation{ID: "stream-things", Method: "GET", Path: "/api/v1/stream", Scope: auth.Read},
		"data: x\n\n",
		func(_ context.Context, in *input) (api.Source, error) {
			if in.Fail != "" {
				return nil, problem.New(problem.RateLimited, "Too many.").RetryAfter(10 * time.Second)
			}
			return s.source, nil
		})
	s.http = httptest.NewServer(s.api)
	s.url = s.http.URL
	t.Cleanup(s.http.Close)
	return s
}

func (s *streaming) request(method, path, key string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// open returns a reader of the stream, whose header has arrived.
func (s *streaming) open() *bufio.Reader {
	s.t.Helper()
	res := s.request("GET", "/api/v1/stream", "read")
	require.Equal(s.t, 200, res.StatusCode)
	require.Equal(s.t, "text/event-stream", res.Header.Get("Content-Type"))
	require.Empty(s.t, res.Header.Get("Content-Encoding"))
	require.Equal(s.t, "no-store", res.Header.Get("Cache-Control"))
	require.NotEmpty(s.t, res.Header.Get("X-Request-Id"))
	return bufio.NewReader(res.Body)
}

// beat lets the stream show that it is alive.
func (s *streaming) beat() {
	s.t.Helper()
	select {
	case s.beats <- time.Time{}:
	case <-s.source.closed:
		require.Fail(s.t, "the stream ended")
	}
}

// piece reads up to an empty line.
func piece(t *testing.T, r *bufio.Reader) (text string) {
	t.Helper()
	for !strings.HasSuffix(text, "\n\n") {
		line, err := r.ReadString('\n')
		require.NoError(t, err, text)
		text += line
	}
	return text
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := newStreaming(t)
	r := s.open() // before there is anything to send
	s.source.messages <- "id: 1\ndata: a\n\n"
	require.Equal(t, "id: 1\ndata: a\n\n", piece(t, r))
	s.beat()
	require.Equal(t, ": alive\n\n", piece(t, r))
	s.source.messages <- "id: 2\ndata: b\n\n"
	require.Equal(t, "id: 2\ndata: b\n\n", piece(t, r))

	// The process stops.
	s.api.EndStreams()
	_, err := r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	<-s.source.closed
	res := s.request("GET", "/api/v1/stream", "read")
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))
}

func TestStreamThatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStreaming(t)
	for path, status := range map[string]int{"?fail=yes": 429, "?other=1": 400} {
		res := s.request("GET", "/api/v1/stream"+path, "read")
		require.Equal(t, status, res.StatusCode)
		require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	}
	require.Equal(t, 401, s.request("GET", "/api/v1/stream", "unknown").StatusCode)
	head := s.request("HEAD", "/api/v1/stream", "read")
	require.Equal(t, 200, head.StatusCode)
	require.Equal(t, "text/event-stream", head.Header.Get("Content-Type"))
	<-s.source.closed
	spec, err := s.api.Spec()
	require.NoError(t, err)
	require.Contains(t, string(spec), `"text/event-stream"`)
}

// A stream does not outlive its key, nor a time in which the key cannot be looked up.
func TestStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys  keys
		err   error
		beats int
	}{
		"revoked":         {keys{}, nil, 1},
		"without scope":   {keys{"read": {Scopes: []auth.Scope{auth.Write}}}, nil, 1},
		"postgres is off": {nil, errors.New("no connection"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreaming(t)
			r := s.open()
			// The key is good for long. It is looked up after each second beat: the last of an odd number
			// is taken when that is over.
			for range 7 {
				s.beat()
				require.Equal(t, ": alive\n\n", piece(t, r))
			}
			s.keys.set(c.keys, c.err)
			for range c.beats {
				s.beat()
				require.Equal(t, ": alive\n\n", piece(t, r))
			}
			_, err := r.ReadByte()
			require.ErrorIs(t, err, io.EOF)
			<-s.source.closed
		})
	}
}

// Neither a client that leaves nor one that does not read holds a stream.
func TestStreamWithoutAReader(t *testing.T) {
	t.Parallel()
	t.Run("left", func(t *testing.T) {
		t.Parallel()
		s := newStreaming(t)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/stream", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer read")
		res, err := s.http.Client().Do(req)
		require.NoError(t, err)
		cancel()
		_ = res.Body.Close()
		<-s.source.closed
	})
	t.Run("stuck", func(t *testing.T) {
		t.Parallel()
		s := newStreaming(t)
		s.open()
		for full := false; !full; { // until writing waits for the client
			select {
			case s.source.messages <- "data: " + strings.Repeat("x", 1<<20) + "\n\n":
			case <-time.After(200 * time.Millisecond):
				full = true
			}
		}
		<-s.source.closed // after streamWrite
	})
}

// Streams outlast the limits of the server, and of a process that passes them on.
func TestStreamOutlastsTheLimitsOfServers(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Second // in which a busy machine reads a request as well
	s := newStreaming(t)
	origin := httptest.NewUnstartedServer(s.api)
	origin.Config.ReadTimeout, origin.Config.WriteTimeout = limit, limit
	origin.Start()
	t.Cleanup(origin.Close)
	target, err := url.Parse(origin.URL)
	require.NoError(t, err)
	front := api.New(api.Deps{Verifier: s.keys, Log: slog.New(slog.DiscardHandler)})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	front.Handle("/api/v1/stream", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, r, done := front.Relay(w, r)
		defer done()
		proxy.ServeHTTP(w, r)
	}))
	relay := httptest.NewUnstartedServer(front)
	relay.Config.ReadTimeout, relay.Config.WriteTimeout = limit, limit
	relay.Start()
	t.Cleanup(relay.Close)
	s.url = relay.URL
	r := s.open()
	<-time.After(2 * limit) // the limits are over
	for i := range 2 {
		message := fmt.Sprintf("data: %d\n\n", i)
		s.source.messages <- message
		require.Equal(t, message, piece(t, r))
	}
	front.EndStreams()
	_, err = r.ReadByte()
	require.Error(t, err)
	<-s.source.closed
}
