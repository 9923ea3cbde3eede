package tracing_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/tracing"
)

// send traces one request, and returns what is logged.
func send(t *testing.T, c tracing.Config) string {
	t.Helper()
	c.Share = 1
	var log bytes.Buffer
	tracer, err := tracing.New(c, tracing.Deps{Service: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	_, span := tracer.Request(t.Context(), "x", "", time.Now())
	span.End()
	require.NoError(t, tracer.Stop(t.Context()))
	return log.String()
}

// The headers log in to the collector, and none of them is in the log of a refusal.
func TestTheLoginOfTraces(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer first" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		got <- r.Header
	}))
	t.Cleanup(server.Close)
	require.Empty(t, send(t,
		tracing.Config{Endpoint: server.URL, Headers: "authorization=Bearer%20first, x-scope=a%2Cb=c"}))
	header := <-got
	require.Equal(t, "a,b=c", header.Get("X-Scope"))
	require.Equal(t, "application/x-protobuf", header.Get("Content-Type"))
	log := send(t, tracing.Config{Endpoint: server.URL, Headers: "authorization=Bearer%20second"})
	require.Contains(t, log, "traces could not be sent")
	require.NotContains(t, log, "second")
}

// OpenTelemetry's own variable goes on working, below the setting.
func TestHeadersOfTheVariableApply(t *testing.T) {
	got := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-scope=a,api-key=variable")
	require.Empty(t, send(t, tracing.Config{Endpoint: server.URL, Headers: "api-key=setting"}))
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
