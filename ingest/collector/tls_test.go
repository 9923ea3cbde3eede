package collector_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/certificate"
	"lodestone/pkg/test"
)

// Events arrive over TLS; a certificate is replaced without a connection that breaks.
func TestEventsOverTLS(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	server, client := a.Issue("server"), a.Issue("client")
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) {
		c.TLS = certificate.Server{Cert: server.Cert, Key: server.Key, ClientCA: a.CA}
		c.PublicURL = "https://events.example.com"
	})
	url := "https://" + s.Addr().String() + "/v1/events"
	send := func(settings *tls.Config) error {
		base := &http.Transport{TLSClientConfig: settings}
		t.Cleanup(base.CloseIdleConnections)
		c := &http.Client{Transport: base}
		answer, err := c.Post(url, "application/json",
			strings.NewReader(`{"token":"`+s.token+`","event_type":"page_viewed","event_data":{"page":3}}`))
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
	ours := a.Client(client)
	base := &http.Transport{TLSClientConfig: ours}
	t.Cleanup(base.CloseIdleConnections)
	kept := &http.Client{Transport: base}
	for i := range 3 {
		answer, err := kept.Post(url, "application/json",
			strings.NewReader(`{"token":"`+s.token+`","event_type":"page_viewed","event_data":{"page":3}}`))
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 202, answer.StatusCode, "%s", text)
		require.Equal(t, "max-age=31536000", answer.Header.Get("Strict-Transport-Security"))
		if i == 0 {
			a.Issue("server")
		}
	}
	require.NoError(t, send(ours))
	require.ErrorContains(t, send(a.Client()), "certificate required")

	plain, err := http.Get("http://" + s.Addr().String() + "/v1/events")
	require.NoError(t, err)
	text, err := io.ReadAll(plain.Body)
	require.NoError(t, err)
	require.NoError(t, plain.Body.Close())
	require.Equal(t, 400, plain.StatusCode)
	require.Contains(t, string(text), "HTTPS server")

	require.NoError(t, os.WriteFile(server.Cert, []byte("broken"), 0o600))
	require.NoError(t, send(ours), "what was read before is served")
	require.Contains(t, s.log.String(), "cannot be used")
}

// Over plain HTTP nothing asks for TLS.
func TestNoStrictTransportWithoutAPublicURL(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Empty(t, s.post(t, "{}").header.Get("Strict-Transport-Security"))
}
