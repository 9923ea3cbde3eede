package bucket_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate"
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/objectstore"
)

// A store with a certificate of an authority of its own, which asks for one of the client. The files are read for each connection.
func TestBucketOverTLS(t *testing.T) {
	address, _, _ := serve(t, "documents")
	a, stranger := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	trusted, login := filepath.Join(a.Dir, "trusted.pem"), stranger.Issue("client")
	trust := func(file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(trusted, text, 0o600))
	}
	trust(stranger.CA)
	c := objectstore.Config{
		Endpoint: "https://" + certificatetest.Proxy(t, strings.TrimPrefix(address, "http://"), a.Issue("store"), a.CA), Region: region,
		AccessKey: accessKey, SecretKey: secretKey, TLS: certificate.Client{CA: trusted},
	}
	open := func() func() error {
		require.NoError(t, c.Validate("file-"))
		client, err := c.Open("file-")
		require.NoError(t, err)
		return func() error {
			exists, err := client.BucketExists(t.Context(), "documents")
			require.Equal(t, err == nil, exists)
			return err
		}
	}
	without := open()
	require.ErrorContains(t, without(), "which is not in the file of --file-s3-tls-ca")
	trust(a.CA)
	require.ErrorContains(t, without(), "name files with one in --file-s3-tls-cert and --file-s3-tls-key")
	c.TLS.Cert = login.Cert
	require.ErrorContains(t, c.Validate("file-"), "--file-s3-tls-key")
	c.TLS.Key = login.Key
	with := open()
	require.ErrorContains(t, with(), "does not take the certificate of --file-s3-tls-cert")
	login.Replace(t, a.Issue("client"))
	require.NoError(t, with())
}
