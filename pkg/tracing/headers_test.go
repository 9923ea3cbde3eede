package tracing_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/tracing"
)

// send traces one request, after change, and returns what is logged.
func send(t *testing.T, c tracing.Config, change func()) string {
	t.Helper()
	c.Share = 1
	var log bytes.Buffer
	tracer, err := tracing.New(c, tracing.Deps{Service: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	change()
	_, span := tracer.Request(t.Context(), "x", "", time.Now())
	span.End()
	require.NoError(t, tracer.Stop(t.Context()))
	return log.String()
}

// The collector takes a new token before or after the file has it. No trace is lost in between.
func TestTheLoginOfTracesFollowsItsFile(t *testing.T) {
	t.Parallel()
	var valid atomic.Value
	got := make(chan http.Header, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != valid.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		spans, err := io.ReadAll(r.Body)
		if err == nil && len(spans) > 0 {
			got <- r.Header
		}
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "headers")
	first := "authorization=Bearer%20first, x-scope=a%2Cb=c"
	secret := config.NewSecret(config.SecretConfig{Setting: "--trace-headers", Path: file, Value: first})
	settings := tracing.Config{Endpoint: server.URL, Headers: first, Secret: secret}
	write := func(text string) func() {
		return func() {
			require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
			for range 2 {
				_, err := secret.Look()
				require.NoError(t, err)
			}
		}
	}

	valid.Store("Bearer first")
	require.Empty(t, send(t, settings, func() {}))
	header := <-got
	require.Equal(t, "a,b=c", header.Get("X-Scope"))
	require.Equal(t, "application/x-protobuf", header.Get("Content-Type"))

	require.Empty(t, send(t, settings, write("authorization=Bearer%20second")))
	require.Equal(t, "Bearer first", (<-got).Get("Authorization"), "the collector has not taken the second")
	valid.Store("Bearer second")
	require.Empty(t, send(t, settings, func() {}))
	require.Equal(t, "Bearer second", (<-got).Get("Authorization"))

	valid.Store("Bearer third")
	log := send(t, settings, func() {})
	require.Contains(t, log, "traces could not be sent")
	require.NotContains(t, log, "second")
}

// Another server to which the collector redirects gets no password.
func TestTheLoginOfTracesIsForTheirCollector(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 2)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	require.Empty(t, send(t, tracing.Config{Endpoint: server.URL, Headers: "api-key=secret"}, func() {}))
	require.Equal(t, "secret", (<-got).Get("Api-Key"))
	require.Empty(t, (<-got).Get("Api-Key"))
}

// OpenTelemetry's own variable goes on working, below the setting.
func TestHeadersOfTheVariableApply(t *testing.T) {
	got := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-scope=a,api-key=variable")
	require.Empty(t, send(t, tracing.Config{Endpoint: server.URL, Headers: "api-key=setting"}, func() {}))
	header := <-got
	require.Equal(t, []string{"a", "setting"}, []string{header.Get("X-Scope"), header.Get("Api-Key")})
}

func TestHeadersThatCannotBeSentAreRefused(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "authorization=Basic dXNlcjpwdw==", "a=1,b=2", "a="} {
		require.NoError(t, tracing.Config{Headers: good}.Validate(), good)
	}
	for _, bad := range []string{"hunter2", "=hunter2", "a b=hunter2", "a=hunter2%", "a=hunter2%0A", "a=1,,b=hunter2"} {
		err := tracing.Config{Headers: bad}.Validate()
		require.ErrorContains(t, err, "--trace-headers", bad)
		require.NotContains(t, err.Error(), "hunter2", "an error has no password")
	}
}
