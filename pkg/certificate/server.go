// Package certificate has the TLS of listeners, whose files are read again when they change, and
// that of clients, which trust the authorities of the system: in its usual places, and where the
// environment variables SSL_CERT_FILE and SSL_CERT_DIR say.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/config"
)

// Server names the files of a listener, in PEM. Each listener embeds it with a prefix of its own.
type Server struct {
	Cert     string `name:"tls-cert" placeholder:"FILE" help:"Certificate for TLS and its chain, in PEM. Reloaded when it changes. Default: no TLS."`
	Key      string `name:"tls-key" placeholder:"FILE" help:"Key of the certificate, in PEM. Reloaded when it changes."`
	ClientCA string `name:"tls-client-ca" placeholder:"FILE" help:"Certificate authorities of clients, in PEM. If set, clients need a certificate signed by one of them; at --admin-listen, only /metrics requires it. Reloaded when it changes."`
}

// Enabled reports whether the listener serves TLS.
func (s Server) Enabled() bool { return s.Cert != "" }

// Scheme returns that of the listener's address.
func (s Server) Scheme() string {
	if s.Enabled() {
		return "https"
	}
	return "http"
}

// Self returns what connects to the listener from within its process. It trusts the certificate
// that is served, whatever its names: the address is one of this machine.
func (s Server) Self() *Dialer { return &Dialer{own: s.Cert} }

// firstName returns a name for which the first certificate of a file is valid.
func firstName(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errors.New(file + " has no certificate in PEM")
	}
	first, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", file, err)
	case len(first.DNSNames) > 0:
		return strings.ReplaceAll(first.DNSNames[0], "*", "self"), nil
	case len(first.IPAddresses) > 0:
		return first.IPAddresses[0].String(), nil
	}
	return "", errors.New(file + ": the certificate has no name")
}

// Validate returns every problem of settings whose names have a prefix such as "admin-". It reads
// the files.
func (s Server) Validate(prefix string) error {
	errs := []error{validatePair(prefix, s.Cert, s.Key)}
	if _, err := roots(s.ClientCA); err != nil {
		errs = append(errs, config.Invalid("--"+prefix+"tls-client-ca", "cannot be used: "+err.Error(),
			"name a readable file with certificates in PEM"))
	}
	if s.ClientCA != "" && !s.Enabled() {
		errs = append(errs, config.Invalid("--"+prefix+"tls-client-ca", "is given without --"+prefix+"tls-cert",
			"give the listener's certificate as well: without TLS, clients have no certificates"))
	}
	return errors.Join(errs...)
}

// roots returns the certificates of a file, or nil without one.
func roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(file + " has no certificate in PEM")
	}
	return pool, nil
}

// validatePair returns the problem of a certificate and its key, which may both be missing.
func validatePair(prefix, cert, key string) error {
	if (cert == "") != (key == "") {
		return config.Invalid("--"+prefix+"tls-key", "and --"+prefix+"tls-cert are not both given", "give both or neither")
	}
	if cert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return config.Invalid("--"+prefix+"tls-cert", "cannot be used: "+err.Error(),
			"name readable files with a certificate and its key in PEM")
	}
	return nil
}

// Deps are the dependencies of a Listener.
type Deps struct {
	Name       string // of the listener, in metrics and the log
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
	// Optional lets clients without a certificate connect; whoever serves a request sees whether there
	// was one.
	Optional bool
	// Protocols are those that are offered by ALPN, the best first.
	Protocols []string
}

// Listener has what the files of a Server hold now: it looks at them before each handshake, and
// when metrics are read. Files that cannot be used change nothing: what was read before stays in
// use. Connections stay as they are. It is safe for concurrent use.
type Listener struct {
	files Server
	deps  Deps

	mu       sync.Mutex
	seen     []os.FileInfo // of the files when they were last read, whether or not they could be used
	current  *tls.Config
	expires  time.Time
	unusable bool
}

var (
	expiryMetric = prometheus.NewDesc("lodestone_tls_certificate_expiry_timestamp_seconds",
		"When a listener's certificate, or the first of the certificates that signed it, expires.",
		[]string{"listener"}, nil)
	unusableMetric = prometheus.NewDesc("lodestone_tls_files_unusable",
		"1 while a listener's changed certificate files are unusable and the previous certificate is served: see the log.", []string{"listener"}, nil)
)

// Open reads the files, and registers the metrics. It returns nil if the listener serves no TLS.
func (s Server) Open(d Deps) (*Listener, error) {
	if !s.Enabled() {
		return nil, nil
	}
	l := &Listener{files: s, deps: d}
	l.seen = l.stat()
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("read the certificate of the %s: %w", d.Name, err)
	}
	if d.Registerer != nil {
		if err := d.Registerer.Register(l); err != nil {
			return nil, fmt.Errorf("register the metrics of the certificate of the %s: %w", d.Name, err)
		}
	}
	return l, nil
}

// TLS returns the setting of the listener.
func (l *Listener) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: l.deps.Protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return l.look(), nil
		}}
}

// look returns the setting for a handshake.
func (l *Listener) look() *tls.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.stat()
	if same(now, l.seen) {
		return l.current
	}
	l.seen = now
	err := l.load()
	l.unusable = err != nil
	if err != nil {
		l.deps.Log.Error("the files of a certificate changed and cannot be used: still serving the one before",
			"server", l.deps.Name, "error", err,
			"remedy", "write a certificate and its key in PEM, which belong together")
	} else {
		l.deps.Log.Info("a certificate was replaced", "server", l.deps.Name, "expires_at", l.expires)
	}
	return l.current
}

// load takes over what the files hold.
func (l *Listener) load() error {
	pair, err := tls.LoadX509KeyPair(l.files.Cert, l.files.Key)
	if err != nil {
		return err
	}
	clients, err := roots(l.files.ClientCA)
	if err != nil {
		return err
	}
	expires := pair.Leaf.NotAfter
	for _, der := range pair.Certificate[1:] {
		signer, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("%s: %w", l.files.Cert, err)
		}
		if signer.NotAfter.Before(expires) {
			expires = signer.NotAfter
		}
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: l.deps.Protocols,
		Certificates: []tls.Certificate{pair}}
	if clients != nil {
		settings.ClientCAs, settings.ClientAuth = clients, tls.RequireAndVerifyClientCert
		if l.deps.Optional {
			settings.ClientAuth = tls.VerifyClientCertIfGiven
		}
	}
	if time.Now().After(expires) {
		l.deps.Log.Warn("a certificate has expired", "server", l.deps.Name, "expires_at", expires)
	}
	l.current, l.expires = settings, expires
	return nil
}

// stat returns the state of the files; nil stands for one that cannot be looked at.
func (l *Listener) stat() []os.FileInfo {
	names := []string{l.files.Cert, l.files.Key}
	if l.files.ClientCA != "" {
		names = append(names, l.files.ClientCA)
	}
	infos := make([]os.FileInfo, len(names))
	for i, name := range names {
		if info, err := os.Stat(name); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// same reports whether no file was written or replaced.
func same(a, b []os.FileInfo) bool {
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) {
			return false
		}
		if a[i] != nil && (!os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size()) {
			return false
		}
	}
	return true
}

// Describe implements prometheus.Collector. Listeners share their metrics, so none describes them.
func (l *Listener) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (l *Listener) Collect(to chan<- prometheus.Metric) {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	unusable := 0.0
	if l.unusable {
		unusable = 1
	}
	to <- prometheus.MustNewConstMetric(expiryMetric, prometheus.GaugeValue, float64(l.expires.Unix()), l.deps.Name)
	to <- prometheus.MustNewConstMetric(unusableMetric, prometheus.GaugeValue, unusable, l.deps.Name)
}
