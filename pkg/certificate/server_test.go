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
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/config"
	"lodestone/pkg/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// served is a server with the listener's certificate.
func served(t *testing.T, files certificate.Server, d certificate.Deps) (address string) {
	t.Helper()
	l, err := files.Open(d)
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", l.TLS())
	require.NoError(t, err)
	server := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// ask sends one request over a connection of its own, and returns the certificate that the server showed.
func ask(t *testing.T, address string, files certificate.Client) (name string, err error) {
	t.Helper()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	c := &http.Client{Transport: files.Dialer("test-").HTTP(base)}
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

func shown(t *testing.T, address string, files certificate.Client) string {
	t.Helper()
	settings, err := files.TLS()
	require.NoError(t, err)
	conn, err := (&tls.Dialer{Config: settings}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestACertificateIsReplacedWhileItIsServed(t *testing.T) {
	t.Parallel()
	a := certificatetest.NewAuthority(t)
	trust := certificate.Client{CA: a.CA}
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
	address := served(t, files, certificate.Deps{Name: "test", Log: slog.New(slog.NewTextHandler(&log, nil)), Registerer: registry})
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
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	kept := &http.Client{Transport: trust.Dialer("test-").HTTP(base)}
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
	a, strangers := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	server, client, stranger := a.Issue("server"), a.Issue("client"), strangers.Issue("stranger")
	files := certificate.Server{Cert: server.Cert, Key: server.Key, ClientCA: a.CA}
	deps := certificate.Deps{Name: "test", Log: slog.New(slog.DiscardHandler)}
	address := served(t, files, deps)

	_, err := ask(t, address, certificate.Client{CA: a.CA, Cert: client.Cert, Key: client.Key})
	require.NoError(t, err)
	_, err = ask(t, address, certificate.Client{CA: a.CA})
	require.ErrorContains(t, err, "asks for a client certificate (tls: certificate required): name files with one in --test-tls-cert and --test-tls-key")
	_, err = ask(t, address, certificate.Client{CA: a.CA, Cert: stranger.Cert, Key: stranger.Key})
	require.ErrorContains(t, err, "does not take the certificate of --test-tls-cert")

	deps.Optional = true
	address = served(t, files, deps)
	for files, verified := range map[certificate.Client]string{{CA: a.CA}: "0", {CA: a.CA, Cert: client.Cert, Key: client.Key}: "1"} {
		answer, err := ask(t, address, files)
		require.NoError(t, err)
		require.Equal(t, verified, answer)
	}
}

func TestWhatIsWrongWithACertificateNamesTheSetting(t *testing.T) {
	t.Parallel()
	a, strangers := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	deps := certificate.Deps{Name: "test", Log: slog.New(slog.DiscardHandler)}
	serve := func(c certificatetest.Issued) string {
		return served(t, certificate.Server{Cert: c.Cert, Key: c.Key}, deps)
	}
	good := serve(a.Issue("server"))
	for name, test := range map[string]struct {
		address, says string
		files         certificate.Client
	}{
		"an authority of its own, without the setting": {good, `which this system does not trust: name a file with that authority's certificate in --test-tls-ca`, certificate.Client{}},
		"another authority":                            {good, "which is not in the file of --test-tls-ca (" + strangers.CA + "): add that authority's certificate to it", certificate.Client{CA: strangers.CA}},
		"another name":                                 {serve(a.IssueFor("other", time.Now().Add(time.Hour), "other.example.com")), "use a name of the certificate in the address", certificate.Client{CA: a.CA}},
		"an expired one":                               {serve(a.IssueFor("old", time.Now().Add(-time.Minute))), "is not valid now", certificate.Client{CA: a.CA}},
	} {
		_, err := ask(t, test.address, test.files)
		require.ErrorContains(t, err, test.says, name)
		conn, err := test.files.Dialer("test-").DialContext(t.Context(), "tcp", test.address)
		require.ErrorContains(t, err, test.says, name)
		require.Nil(t, conn)
	}

	self := certificate.Server{Cert: a.IssueFor("self", time.Now().Add(time.Hour), "*.example.com").Cert}
	self.Key = a.Dir + "/self-key.pem"
	conn, err := self.Self(certificate.Client{}).DialContext(t.Context(), "tcp", served(t, self, deps))
	require.NoError(t, err, "a process trusts its own certificate, whatever its names")
	require.NoError(t, conn.Close())
	_, err = self.Self(certificate.Client{}).DialContext(t.Context(), "tcp", good)
	require.Error(t, err)
}

// The authority and the certificate of a client are read for each connection.
func TestAClientTakesReplacedFiles(t *testing.T) {
	t.Parallel()
	a := certificatetest.NewAuthority(t)
	server := a.Issue("server")
	address := served(t, certificate.Server{Cert: server.Cert, Key: server.Key}, certificate.Deps{Name: "test", Log: slog.New(slog.DiscardHandler)})
	file := a.Dir + "/trusted.pem"
	replace := func(from string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	replace(certificatetest.NewAuthority(t).CA)
	d := certificate.Client{CA: file}.Dialer("test-")
	_, err := d.DialContext(t.Context(), "tcp", address)
	require.ErrorContains(t, err, "--test-tls-ca")
	replace(a.CA)
	conn, err := d.DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestSettingsOfCertificates(t *testing.T) {
	t.Parallel()
	a := certificatetest.NewAuthority(t)
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
		"https://links.example.com": "max-age=31536000", "https://links.example.com:8443/x": "max-age=31536000", "http://links.example.com": "",
		"https://localhost:8080": "", "https://127.0.0.1": "", "https://[::1]:8080": "", "": "",
	} {
		require.Equal(t, want, certificate.StrictTransport(url), url)
	}
}
