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

// A store with a certificate of an authority of its own; the file is read for each connection.
func TestBucketOverTLS(t *testing.T) {
	address, _, _ := serve(t, "documents")
	a := certificatetest.NewAuthority(t)
	trusted := filepath.Join(a.Dir, "trusted.pem")
	trust := func(file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(trusted, text, 0o600))
	}
	trust(certificatetest.NewAuthority(t).CA)
	c := objectstore.Config{
		Endpoint: "https://" + certificatetest.Proxy(t, strings.TrimPrefix(address, "http://"), a.Issue("store"), ""), Region: region,
		AccessKey: accessKey, SecretKey: secretKey, TLS: certificate.Authority{CA: trusted},
	}
	require.NoError(t, c.Validate("file-"))
	client, err := c.Open("file-")
	require.NoError(t, err)
	_, err = client.BucketExists(t.Context(), "documents")
	require.ErrorContains(t, err, "which is not in the file of --file-s3-tls-ca")
	trust(a.CA)
	exists, err := client.BucketExists(t.Context(), "documents")
	require.NoError(t, err)
	require.True(t, exists)
}
