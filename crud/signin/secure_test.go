package signin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

// A provider with a certificate of an authority that the system trusts, or does not.
func TestOpenIDOverTLS(t *testing.T) {
	t.Parallel()
	visit := func(a *test.Authority) *browser {
		p := newIssuer(t)
		p.url = "https://" + test.Proxy(t, strings.TrimPrefix(p.url, "http://"), a.Issue("provider"))
		return start(t, p.settings).browser()
	}
	require.Equal(t, 400, visit(test.NewAuthority(t)).get(t, "/dashboard/sign-in/openid").status)
	require.NotEmpty(t, visit(test.Trusted(t)).leave(t))
}
