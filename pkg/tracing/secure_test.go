package tracing_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
	"lodestone/pkg/tracing"
)

// Traces go to a collector with a certificate of an authority of its own, with the variables of
// OpenTelemetry.
func TestTracesOverTLS(t *testing.T) {
	got := make(chan string, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got <- r.URL.Path
	}))
	a := test.NewAuthority(t)
	client := a.Issue("client")
	server.TLS = a.Client(a.Issue("server"))
	server.TLS.ClientCAs, server.TLS.ClientAuth = server.TLS.RootCAs, tls.RequireAndVerifyClientCert
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	send := func() string {
		var log bytes.Buffer
		tracer, err := tracing.New(tracing.Config{Endpoint: server.URL, Share: 1},
			tracing.Deps{Service: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		_, span := tracer.Request(t.Context(), "x", "", time.Now())
		span.End()
		require.NoError(t, tracer.Stop(t.Context()))
		return log.String()
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", test.NewAuthority(t).CA)
	require.Contains(t, send(), "certificate signed by unknown authority")
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", a.CA)
	require.Contains(t, send(), "certificate required")
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", client.Cert)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", client.Key)
	require.Empty(t, send())
	require.Equal(t, "/v1/traces", <-got)
}
