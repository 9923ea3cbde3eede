package signin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/signin"
	"lodestone/pkg/certificate"
	"lodestone/pkg/certificate/certificatetest"
)

// A provider with a certificate of an authority of its own, which asks for one of the client. The files are read for each connection.
func TestOpenIDOverTLS(t *testing.T) {
	t.Parallel()
	a, stranger := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	p := newIssuer(t)
	p.url = "https://" + certificatetest.Proxy(t, strings.TrimPrefix(p.url, "http://"), a.Issue("provider"), a.CA)
	trusted, login := filepath.Join(a.Dir, "trusted.pem"), stranger.Issue("client")
	trust := func(file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(trusted, text, 0o600))
	}
	trust(stranger.CA)
	f := start(t, p.settings, func(c *signin.Config) {
		c.OpenIDTLS = certificate.Client{CA: trusted, Cert: login.Cert, Key: login.Key}
		require.NoError(t, c.Validate())
	})
	refused := func() { require.Equal(t, 400, f.browser().get(t, "/dashboard/sign-in/openid").status) }
	refused()
	trust(a.CA)
	refused()
	login.Replace(t, a.Issue("client"))
	require.NotEmpty(t, f.browser().leave(t))
}
