package httpserver_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

func newServer(name, address string, h http.Handler) *httpserver.Server {
	return httpserver.New(httpserver.Config{Name: name, Setting: "--listen", Address: address},
		httpserver.Deps{Handler: h, Log: slog.New(slog.DiscardHandler)})
}

// Who keeps connections to a server that is about to stop is sent elsewhere with the next answer,
// and served until then.
func TestALeavingServerEndsItsConnections(t *testing.T) {
	t.Parallel()
	s := newServer("test", "127.0.0.1:0",
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") }))
	require.NoError(t, s.Start(t.Context()))
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	for _, leaving := range []bool{false, true, true} {
		if leaving {
			s.Leave()
		}
		res, err := client.Get("http://" + s.Addr().String())
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()))
		require.Equal(t, "whole", string(text))
		require.Equal(t, leaving, res.Close)
	}
	require.NoError(t, s.Stop(t.Context()))
	transport.CloseIdleConnections()
}

// A server before this one may see the end of such a request elsewhere: what follows on the
// connection is not taken for another request.
func TestARequestWithTwoEndsEndsTheConnection(t *testing.T) {
	t.Parallel()
	s := newServer("test", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	require.NoError(t, s.Start(t.Context()))
	c, err := net.Dial("tcp", s.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"5\r\nwhole\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	answers, err := io.ReadAll(c)
	require.NoError(t, errors.Join(err, c.Close()))
	require.Contains(t, string(answers), "whole")
	require.Equal(t, 1, strings.Count(string(answers), "HTTP/1.1 "))
	require.NoError(t, s.Stop(t.Context()))
}

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	arrived, finish := make(chan struct{}), make(chan struct{})
	s := newServer("test", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-finish
		_, _ = io.WriteString(w, "whole")
	}))
	require.NoError(t, s.Start(t.Context()))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer := make(chan string)
	go func() {
		res, err := client.Get("http://" + s.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		answer <- string(text)
	}()
	<-arrived
	stopped := make(chan error)
	go func() { stopped <- s.Stop(context.Background()) }()
	// The listener is gone before the request in flight has ended.
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", s.Addr().String(), time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 2*time.Minute, time.Millisecond)
	close(finish)
	require.Equal(t, "whole", <-answer)
	require.NoError(t, <-stopped)
	require.NoError(t, s.Stop(t.Context()))
}

func TestStopCutsOffWhatHangs(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := newServer("test", "127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	require.NoError(t, s.Start(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + s.Addr().String())
		if err == nil {
			_ = res.Body.Close()
		}
	}()
	<-arrived
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Stop(ctx), context.DeadlineExceeded)
	<-ended
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	first := newServer("first", "127.0.0.1:0", http.NotFoundHandler())
	require.NoError(t, first.Start(t.Context()))
	defer func() { require.NoError(t, first.Stop(context.Background())) }()
	err := newServer("second", first.Addr().String(), http.NotFoundHandler()).Start(t.Context())
	require.True(t, config.IsInvalid(err))
	require.Contains(t, err.Error(), "--listen")
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_test", Help: "Nothing."}))
	var broken error
	h := httpserver.Admin(registry, map[string]httpserver.Check{
		"good":  func(context.Context) error { return nil },
		"shaky": func(context.Context) error { return broken },
	}, httpserver.AdminConfig{})
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w.Code, w.Body.String()
	}
	code, body := get("/metrics")
	require.Equal(t, 200, code)
	require.Contains(t, body, "lodestone_test 0")
	code, _ = get("/healthz")
	require.Equal(t, 200, code)
	code, body = get("/readyz")
	require.Equal(t, 200, code)
	require.JSONEq(t, `{"ready":true,"checks":{"good":"ok","shaky":"ok"}}`, body)
	broken = errors.New("gone")
	code, body = get("/readyz")
	require.Equal(t, 503, code)
	require.JSONEq(t, `{"ready":false,"checks":{"good":"ok","shaky":"gone"}}`, body)
	code, _ = get("/debug/pprof/goroutine?debug=1")
	require.Equal(t, 404, code)

	h = httpserver.Admin(registry, nil, httpserver.AdminConfig{Profiles: true})
	code, body = get("/debug/pprof/goroutine?debug=1")
	require.Equal(t, 200, code)
	require.Contains(t, body, "TestAdmin")
	code, _ = get("/debug/pprof/cmdline")
	require.Equal(t, 404, code, "flags may be secrets")
}
