package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

// Everything of one machine works over TLS with an authority of its own: the site and the
// collector, commands, probes, the doctor, and an agent.
func TestUpOverTLS(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	site, client := a.Issue("site"), a.Issue("client")
	elsewhere := a.IssueFor("collector", time.Now().Add(100*24*time.Hour), "events.example.com")
	u := newUp(t)
	u.more = []string{
		"--tls-cert", site.Cert, "--tls-key", site.Key, "--collector-tls-cert", site.Cert, "--collector-tls-key", site.Key,
		"--admin-tls-cert", elsewhere.Cert, "--admin-tls-key", elsewhere.Key, "--admin-tls-client-ca", a.CA,
	}
	u.start()
	for _, name := range []string{"LODESTONE_URL", "LODESTONE_COLLECTOR_URL", "LODESTONE_ADMIN_URL",
		"LODESTONE_DASHBOARD_URL"} {
		require.True(t, strings.HasPrefix(u.env[name], "https://"), "%s=%s", name, u.env[name])
	}
	require.NotContains(t, u.out.String(), "cannot create the sample")

	trusting := []string{"SSL_CERT_FILE=" + a.CA}
	stranger := launch(t, u.dir, nil, "demo", "--visitors=20")
	require.Equal(t, exitFailed, stranger.wait(), "%s", stranger.out)
	require.Contains(t, stranger.out.String(),
		"name a file with that authority's certificate in the environment variable SSL_CERT_FILE")
	demo := launch(t, u.dir, trusting, "demo", "--visitors=20")
	require.Zero(t, demo.wait(), "%s", demo.out)
	require.Contains(t, demo.out.String(), demoAgrees)

	ours := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: a.Client(client)}}
	ask := func(c *http.Client, url string) (int, http.Header, string) {
		answer, err := c.Get(url)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, answer.Header, string(text)
	}
	status, header, _ := ask(ours, u.env["LODESTONE_URL"]+"/l/welcome")
	require.Equal(t, 200, status)
	require.Empty(t, header.Get("Strict-Transport-Security"), "never for an address of this machine")

	admin := []string{"LODESTONE_ADMIN_LISTEN=" + strings.TrimPrefix(u.env["LODESTONE_ADMIN_URL"], "https://"),
		"LODESTONE_ADMIN_TLS_CERT=" + elsewhere.Cert, "LODESTONE_ADMIN_TLS_KEY=" + elsewhere.Key}
	require.Eventually(t, func() bool { // as a container's probe is repeated
		probe := launch(t, u.dir, admin, "healthcheck")
		code := probe.wait()
		t.Logf("exit %d: %s", code, probe.out)
		return code == 0
	}, enginetest.Timeout, interval)
	examined := launch(t, u.dir, []string{
		"SSL_CERT_FILE=" + a.CA, "LODESTONE_TLS_CERT=" + site.Cert, "LODESTONE_TLS_KEY=" + site.Key,
		"LODESTONE_PUBLIC_URL=" + u.env["LODESTONE_URL"],
		"LODESTONE_COLLECTOR_TLS_CERT=" + elsewhere.Cert, "LODESTONE_COLLECTOR_TLS_KEY=" + elsewhere.Key,
	}, "doctor")
	require.Zero(t, examined.wait(), "%s", examined.out)
	require.Contains(t, examined.out.String(), site.Cert+": the certificate of site expires")
	require.Contains(t, examined.out.String(), elsewhere.Cert+": valid until")

	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	launch(t, u.dir, trusting, "mcp", "--mcp-listen", address)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}, enginetest.Timeout, interval)
	withKey := &http.Client{Transport: bearing{key: u.env["LODESTONE_API_KEY"], over: http.DefaultTransport}}
	asking := newAgent(t, &sdk.StreamableClientTransport{Endpoint: "http://" + address + "/mcp", HTTPClient: withKey,
		DisableStandaloneSSE: true})
	names, _ := asking.tools()
	require.NotEmpty(t, names)
	require.NoError(t, asking.session.Close())

	// A certificate is replaced without a restart, and one that cannot be used changes nothing.
	text, err := os.ReadFile(a.IssueFor("next", time.Now().Add(48*time.Hour), "localhost").Cert)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(site.Cert, text, 0o600))
	status, _, _ = ask(ours, u.env["LODESTONE_URL"]+"/l/welcome")
	require.Equal(t, 200, status)
	_, _, metrics := ask(secureNamed(t, a, client, "events.example.com"), u.env["LODESTONE_ADMIN_URL"]+"/metrics")
	require.Contains(t, metrics, `lodestone_tls_files_unusable{listener="site"} 1`)
	require.Contains(t, metrics, `lodestone_tls_certificate_expiry_timestamp_seconds{listener="admin server"}`)
	u.interrupt(enginetest.Timeout)
}

// secureNamed returns a client for a server with another name than its address.
func secureNamed(t *testing.T, a *test.Authority,
	c test.CertificateFiles, name string) *http.Client {
	t.Helper()
	settings := a.Client(c)
	settings.ServerName = name
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: settings}}
}

// Settings that name files which cannot be used are named before anything starts.
func TestCertificatesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, dir, nil, "up", "--data", filepath.Join(dir, "data"), "--tls-cert", "none.pem",
		"--collector-tls-client-ca", "none.pem")
	require.Equal(t, exitSettings, p.wait(), "%s", p.out)
	for _, setting := range []string{"--tls-key", "--collector-tls-client-ca"} {
		require.Contains(t, p.out.String(), setting)
	}
}
