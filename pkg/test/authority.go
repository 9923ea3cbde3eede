package test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority signs certificates and writes them, with their keys, to files.
type Authority struct {
	Dir string // of the files
	CA  string // file of its own certificate

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority that nothing trusts, and whose files are removed with the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	cert, key, err := newAuthority("Authority of " + t.Name())
	require.NoError(t, err)
	return of(t, cert, key)
}

// Trusted returns the authority that Trust made.
func Trusted(t testing.TB) *Authority {
	t.Helper()
	require.NotNil(t, trusted.cert, "TestMain has to call test.Trust")
	return of(t, trusted.cert, trusted.key)
}

func of(t testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) *Authority {
	t.Helper()
	a := &Authority{t: t, Dir: t.TempDir(), cert: cert, key: key}
	a.CA = a.write("ca.pem", block("CERTIFICATE", cert.Raw))
	return a
}

var trusted struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Trust makes an authority that the clients of this process trust, by SSL_CERT_FILE as in an
// installation. Programs that tests start have an environment of their own. TestMain calls it,
// since the authorities of the system are read once.
func Trust() {
	if err := trust(); err != nil {
		panic(err) //nolint:forbidigo // TestMain has no one to return it to
	}
}

func trust() (err error) {
	if trusted.cert, trusted.key, err = newAuthority("Trusted authority"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "authority-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it has been read
	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, block("CERTIFICATE", trusted.cert.Raw), 0o600); err != nil {
		return err
	}
	const variable = "SSL_CERT_FILE"
	before, given := os.LookupEnv(variable)
	if err := os.Setenv(variable, file); err != nil {
		return err
	}
	if _, err := x509.SystemCertPool(); err != nil { // reads it
		return err
	}
	if given {
		return os.Setenv(variable, before)
	}
	return os.Unsetenv(variable)
}

func newAuthority(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	return sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}, nil, nil)
}

// Client returns the setting of a client that trusts this authority alone, and logs in with
// certificates.
func (a *Authority) Client(logins ...CertificateFiles) *tls.Config {
	a.t.Helper()
	settings := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	settings.RootCAs.AddCert(a.cert)
	for _, c := range logins {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		require.NoError(a.t, err)
		settings.Certificates = append(settings.Certificates, pair)
	}
	return settings
}

// sign returns a certificate and its key; without a parent, it signs itself.
func sign(c, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<60)); err != nil {
		return nil, nil, err
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	c.NotBefore = time.Now().Add(-time.Hour)
	if c.NotAfter.Before(c.NotBefore.Add(time.Hour)) { // it is expired
		c.NotBefore = c.NotAfter.Add(-time.Hour)
	}
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write replaces a file at once, as deployments do.
func (a *Authority) write(name string, text ...[]byte) string {
	path := filepath.Join(a.Dir, name)
	var all []byte
	for _, t := range text {
		all = append(all, t...)
	}
	require.NoError(a.t, os.WriteFile(path+".new", all, 0o600))
	require.NoError(a.t, os.Rename(path+".new", path))
	return path
}

// CertificateFiles names the files of a certificate.
type CertificateFiles struct{ Cert, Key, Both string }

// Issue writes a certificate for servers at 127.0.0.1, and for clients. A name that has one is
// given another.
func (a *Authority) Issue(name string) CertificateFiles {
	a.t.Helper()
	return a.IssueFor(name, time.Now().Add(time.Hour))
}

// IssueFor is Issue for a certificate that expires at a time, and has other names of DNS if any are
// given.
func (a *Authority) IssueFor(name string, until time.Time, hosts ...string) CertificateFiles {
	a.t.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: until, DNSNames: hosts,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth,
			x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) == 0 {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	signed, k, err := sign(c, a.cert, a.key)
	require.NoError(a.t, err)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(a.t, err)
	cert, key := block("CERTIFICATE", signed.Raw), block("PRIVATE KEY", der)
	return CertificateFiles{Cert: a.write(name+".pem", cert), Key: a.write(name+"-key.pem", key),
		Both: a.write(name+"-both.pem", cert, key)}
}
