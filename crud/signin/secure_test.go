package signin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/signin"
	"lodestone/pkg/certificate/certificatetest"
)

// A provider with a certificate of an authority of its own; the file is read for each connection.
func TestOpenIDOverTLS(t *testing.T) {
	t.Parallel()
	a := certificatetest.NewAuthority(t)
	p := newIssuer(t)
	p.url = "https://" + certificatetest.Proxy(t, strings.TrimPrefix(p.url, "http://"), a.Issue("provider"), "")
	trusted := filepath.Join(a.Dir, "trusted.pem")
	trust := func(file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(trusted, text, 0o600))
	}
	trust(certificatetest.NewAuthority(t).CA)
	f := start(t, p.settings, func(c *signin.Config) { c.OpenIDTLS.CA = trusted })
	require.Equal(t, 400, f.browser().get(t, "/dashboard/sign-in/openid").status)
	trust(a.CA)
	require.NotEmpty(t, f.browser().leave(t))
}
