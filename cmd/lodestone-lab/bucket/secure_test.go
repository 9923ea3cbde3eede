package bucket_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/blob"
	"lodestone/pkg/test"
)

// A store with a certificate of an authority that the system trusts, or does not.
func TestBucketOverTLS(t *testing.T) {
	address, _, _ := serve(t, "documents")
	ask := func(a *test.Authority) error {
		c := blob.Config{
			Endpoint:  "https://" + test.Proxy(t, strings.TrimPrefix(address, "http://"), a.Issue("store")),
			Region:    region,
			AccessKey: accessKey, SecretKey: secretKey,
		}
		require.NoError(t, c.Validate())
		client, err := c.Open()
		require.NoError(t, err)
		exists, err := client.BucketExists(t.Context(), "documents")
		require.Equal(t, err == nil, exists)
		return err
	}
	require.ErrorContains(t, ask(test.NewAuthority(t)), "SSL_CERT_FILE")
	require.NoError(t, ask(test.Trusted(t)))
}
