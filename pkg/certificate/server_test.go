package certificate_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) {
	test.Trust()
	test.LeakMain(m)
}

// served is a server with the listener's certificate.
func served(t *testing.T, files certificate.Server, d certificate.Deps) (address string) {
	t.Helper()
	l, err := files.Open(d)
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", l.TLS())
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, len(r.TLS.VerifiedChains))
		})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return listener.Addr().String()
}

// ask sends one request over a connection of its own, and returns the certificate that the server
// showed.
func ask(t *testing.T, address string, settings *tls.Config) (name string, err error) {
	t.Helper()
	base := &http.Transport{TLSClientConfig: settings}
	defer base.CloseIdleConnections()
	c := &http.Client{Transport: certificate.HTTP(base)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address, http.NoBody)
	require.NoError(t, err)
	answer, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func shown(t *testing.T, address string, settings *tls.Config) string {
	t.Helper()
	conn, err := (&tls.Dialer{Config: settings}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestACertificateIsReplacedWhileItIsServed(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	trust := a.Client()
	first, second := a.IssueFor("first", time.Now().Add(time.Hour)), a.IssueFor("second", time.Now().Add(30*time.Minute))
	files := certificate.Server{Cert: a.Dir + "/cert.pem", Key: a.Dir + "/key.pem"}
	put := func(from, to string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+".new", text, 0o600))
		require.NoError(t, os.Rename(to+".new", to))
	}
	put(first.Cert, files.Cert)
	put(first.Key, files.Key)
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	address := served(t, files,
		certificate.Deps{Name: "test", Log: slog.New(slog.NewTextHandler(&log, nil)), Registerer: registry})
	metrics := func() (unusable float64, expires time.Time) {
		all, err := registry.Gather()
		require.NoError(t, err)
		for _, m := range all {
			value := m.GetMetric()[0].GetGauge().GetValue()
			if m.GetName() == "lodestone_tls_files_unusable" {
				unusable = value
			} else {
				expires = time.Unix(int64(value), 0)
			}
		}
		return unusable, expires
	}
	base := &http.Transport{TLSClientConfig: trust}
	t.Cleanup(base.CloseIdleConnections)
	kept := &http.Client{Transport: base}
	get := func() {
		answer, err := kept.Get("https://" + address)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	get()
	require.Equal(t, "first", shown(t, address, trust))

	put(second.Cert, files.Cert) // without its key
	require.Equal(t, "first", shown(t, address, trust))
	unusable, _ := metrics()
	require.InDelta(t, 1, unusable, 0)
	require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), "%s", log.String())

	put(second.Key, files.Key)
	unusable, expires := metrics()
	require.InDelta(t, 0, unusable, 0)
	require.WithinDuration(t, time.Now().Add(30*time.Minute), expires, 5*time.Minute)
	require.Equal(t, "second", shown(t, address, trust))
	get() // over the connection from before

	require.NoError(t, os.Remove(files.Cert))
	require.Equal(t, "second", shown(t, address, trust))
	unusable, _ = metrics()
	require.InDelta(t, 1, unusable, 0)
}

func TestClientsThatNeedACertificate(t *testing.T) {
	t.Parallel()
	a, strangers := test.NewAuthority(t), test.NewAuthority(t)
	server, client, stranger := a.Issue("server"), a.Issue("client"), strangers.Issue("stranger")
	files := certificate.Server{Cert: server.Cert, Key: server.Key, ClientCA: a.CA}
	deps := certificate.Deps{Name: "test", Log: slog.New(slog.DiscardHandler)}
	address := served(t, files, deps)

	_, err := ask(t, address, a.Client(client))
	require.NoError(t, err)
	_, err = ask(t, address, a.Client())
	require.ErrorContains(t, err, "asks for a client certificate (tls: certificate required), and Lodestone has none")
	_, err = ask(t, address, a.Client(stranger))
	require.Error(t, err)

	deps.Optional = true
	address = served(t, files, deps)
	for settings, verified := range map[*tls.Config]string{a.Client(): "0", a.Client(client): "1"} {
		answer, err := ask(t, address, settings)
		require.NoError(t, err)
		require.Equal(t, verified, answer)
	}
}

func TestWhatIsWrongWithACertificate(t *testing.T) {
	t.Parallel()
	a, strangers := test.Trusted(t), test.NewAuthority(t)
	deps := certificate.Deps{Name: "test", Log: slog.New(slog.DiscardHandler)}
	serve := func(c test.CertificateFiles) string {
		return served(t, certificate.Server{Cert: c.Cert, Key: c.Key}, deps)
	}
	good := serve(a.Issue("server"))
	_, err := ask(t, good, nil)
	require.NoError(t, err)
	for address, says := range map[string]string{
		serve(strangers.Issue(
			"server")): "which is not trusted: name a file with that authority's certificate in the environment variable SSL_CERT_FILE",
		serve(a.IssueFor("other", time.Now().Add(time.Hour),
			"other.example.com")): "use a name of the certificate in the address",
		serve(a.IssueFor("old", time.Now().Add(-time.Minute))): "is not valid now",
	} {
		_, err := ask(t, address, nil)
		require.ErrorContains(t, err, says)
		conn, err := (&certificate.Dialer{}).DialContext(t.Context(), "tcp", address)
		require.ErrorContains(t, err, says)
		require.Nil(t, conn)
	}

	self := certificate.Server{Cert: a.IssueFor("self", time.Now().Add(time.Hour), "*.example.com").Cert}
	self.Key = a.Dir + "/self-key.pem"
	conn, err := self.Self().DialContext(t.Context(), "tcp", served(t, self, deps))
	require.NoError(t, err, "a process trusts its own certificate, whatever its names")
	require.NoError(t, conn.Close())
	_, err = self.Self().DialContext(t.Context(), "tcp", good)
	require.Error(t, err)
}

func TestSettingsOfCertificates(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	good, other := a.Issue("good"), a.Issue("other")
	require.NoError(t, certificate.Server{}.Validate("x-"))
	require.NoError(t, certificate.Server{Cert: good.Cert, Key: good.Key, ClientCA: a.CA}.Validate("x-"))
	for _, test := range []struct {
		server  certificate.Server
		setting string
	}{
		{certificate.Server{Cert: good.Cert}, "--x-tls-key"},
		{certificate.Server{Cert: good.Cert, Key: other.Key}, "--x-tls-cert"},
		{certificate.Server{ClientCA: a.CA}, "--x-tls-client-ca"},
		{certificate.Server{Cert: good.Cert, Key: good.Key, ClientCA: good.Key}, "--x-tls-client-ca"},
	} {
		problems := config.Problems(test.server.Validate("x-"))
		require.Len(t, problems, 1, "%+v", test.server)
		require.Equal(t, test.setting, problems[0].Setting)
	}
	l, err := certificate.Server{}.Open(certificate.Deps{})
	require.NoError(t, err)
	require.Nil(t, l)
}

func TestStrictTransport(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://links.example.com": "max-age=31536000", "https://links.example.com:8443/x": "max-age=31536000",
		"http://links.example.com": "",
		"https://localhost:8080":   "", "https://127.0.0.1": "", "https://[::1]:8080": "", "": "",
	} {
		require.Equal(t, want, certificate.StrictTransport(url), url)
	}
}
