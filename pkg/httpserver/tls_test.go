package httpserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/test"
)

// secureClient returns a client that trusts an authority, and asks for HTTP/2.
func secureClient(t *testing.T, settings *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: settings, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, url string) (status int, protocol, body string) {
	t.Helper()
	answer, err := c.Get(url)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode, answer.Proto, string(text)
}

func startSecure(t *testing.T, c httpserver.Config, h http.Handler) *httpserver.Server {
	t.Helper()
	c.Name, c.Setting, c.Address = "test", "--listen", "127.0.0.1:0"
	s := httpserver.New(c, httpserver.Deps{Handler: h, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	return s
}

// Over TLS there is HTTP/2, whose connections also end when the server leaves.
func TestServesTLS(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	server := a.Issue("server")
	s := startSecure(t, httpserver.Config{TLS: certificate.Server{Cert: server.Cert, Key: server.Key}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	c := secureClient(t, a.Client())
	for _, leaving := range []bool{false, true} {
		if leaving {
			s.Leave()
		}
		_, protocol, text := get(t, c, "https://"+s.Addr().String())
		require.Equal(t, "HTTP/2.0", protocol)
		require.Equal(t, "HTTP/2.0", text)
	}
	status, _, text := get(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		"http://"+s.Addr().String())
	require.Equal(t, 400, status)
	require.Contains(t, text, "HTTPS")
}

// Probes have no certificate: they learn the state of the process and nothing else.
func TestAdminNeedsACertificateForMetrics(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	server, client := a.Issue("server"), a.Issue("client")
	h := httpserver.Admin(prometheus.NewRegistry(),
		map[string]httpserver.Check{"store": func(context.Context) error { return errors.New("a secret address") }},
		httpserver.AdminConfig{NeedCertificate: true, Profiles: true})
	s := startSecure(t, httpserver.Config{TLS: certificate.Server{Cert: server.Cert, Key: server.Key, ClientCA: a.CA},
		OptionalClients: true}, h)
	stranger, ours := secureClient(t, a.Client()), secureClient(t, a.Client(client))
	url := "https://" + s.Addr().String()
	for _, test := range []struct {
		client *http.Client
		path   string
		status int
		says   string
	}{
		{stranger, "/metrics", 403, "--admin-tls-client-ca"}, {ours, "/metrics", 200, ""},
		{stranger, "/debug/pprof/heap", 403, "--admin-tls-client-ca"}, {stranger, "/debug/pprof/profile", 403,
			"--admin-tls-client-ca"}, {ours, "/debug/pprof/heap?debug=1", 200, "heap profile"},
		{stranger, "/healthz", 200, "ok"}, {stranger, "/readyz", 503, `"store":"failed"`},
		{ours, "/readyz", 503, "a secret address"},
	} {
		status, _, text := get(t, test.client, url+test.path)
		require.Equal(t, test.status, status, test.path)
		require.Contains(t, text, test.says, test.path)
	}
}
