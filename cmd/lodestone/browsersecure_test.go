//go:build long

package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

// A visitor's browser over TLS with an authority of its own: from the landing page to the events of
// reading, nothing goes over plain HTTP.
func TestBrowserOverTLS(t *testing.T) {
	t.Parallel()
	if only := browserOnly(); len(only) > 0 && !slices.Contains(only, "tls") {
		return
	}
	a := test.NewAuthority(t)
	site, collector := a.Issue("site"), a.Issue("collector")
	u := newUp(t)
	u.more = []string{"--no-sample", "--tls-cert", site.Cert, "--tls-key", site.Key, "--collector-tls-cert",
		collector.Cert, "--collector-tls-key", collector.Key}
	u.start()
	b := newBrowserTest(u, t.TempDir(), "NODE_EXTRA_CA_CERTS="+a.CA,
		"BROWSER_TRUSTED_KEYS="+keyHash(t, site)+","+keyHash(t, collector))
	b.run(beforeTheLimit(t), "tls")
	u.interrupt(enginetest.Timeout)
}

// keyHash returns the hash of a certificate's public key, by which Chromium is made to trust it.
func keyHash(t *testing.T, c test.CertificateFiles) string {
	t.Helper()
	text, err := os.ReadFile(c.Cert)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	hash := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(hash[:])
}
