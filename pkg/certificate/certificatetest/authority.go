// Package certificatetest makes certificates for tests, and servers that end TLS before others.
package certificatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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

// NewAuthority returns an authority whose files are removed with the test.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, Dir: t.TempDir()}
	a.cert, a.key = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "Authority of " + t.Name()}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.CA = a.write("ca.pem", block("CERTIFICATE", a.cert.Raw))
	return a
}

func (a *Authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<60))
	require.NoError(a.t, err)
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	c.NotBefore = time.Now().Add(-time.Hour)
	if c.NotAfter.Before(c.NotBefore.Add(time.Hour)) { // it is expired
		c.NotBefore = c.NotAfter.Add(-time.Hour)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert, key
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

// Issued names the files of a certificate.
type Issued struct{ Cert, Key, Both string }

// Issue writes a certificate for servers at 127.0.0.1, and for clients. A name that has one is given another.
func (a *Authority) Issue(name string) Issued {
	a.t.Helper()
	return a.IssueFor(name, time.Now().Add(time.Hour))
}

// IssueFor is Issue for a certificate that expires at a time, and has other names of DNS if any are given.
func (a *Authority) IssueFor(name string, until time.Time, hosts ...string) Issued {
	a.t.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: until, DNSNames: hosts,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) == 0 {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	signed, k := a.sign(c)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(a.t, err)
	cert, key := block("CERTIFICATE", signed.Raw), block("PRIVATE KEY", der)
	return Issued{Cert: a.write(name+".pem", cert), Key: a.write(name+"-key.pem", key), Both: a.write(name+"-both.pem", cert, key)}
}

// Replace gives the files of a certificate the text of another's.
func (i Issued) Replace(t testing.TB, by Issued) {
	t.Helper()
	for to, from := range map[string]string{i.Cert: by.Cert, i.Key: by.Key, i.Both: by.Both} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
}
