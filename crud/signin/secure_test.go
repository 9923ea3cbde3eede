package signin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/certificatetest"
)

// A provider with a certificate of an authority that the system trusts, or does not.
func TestOpenIDOverTLS(t *testing.T) {
	t.Parallel()
	visit := func(a *certificatetest.Authority) *browser {
		p := newIssuer(t)
		p.url = "https://" + certificatetest.Proxy(t, strings.TrimPrefix(p.url, "http://"), a.Issue("provider"))
		return start(t, p.settings).browser()
	}
	require.Equal(t, 400, visit(certificatetest.NewAuthority(t)).get(t, "/dashboard/sign-in/openid").status)
	require.NotEmpty(t, visit(certificatetest.Trusted(t)).leave(t))
}
