package landing_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Half of the visitors see the second headline, each the same one every time, and the form says
// which.
func TestVisitorsAreDividedBetweenTwoHeadlines(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "headline_b = 'The Second'")
	seen := map[string]int{}
	for n := range 40 {
		agent := fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64) Chrome/%d.0.0.0", n)
		which := ""
		for range 2 {
			r := f.do(t, "GET", "/l/"+slug, nil, "User-Agent", agent)
			require.Equal(t, http.StatusOK, r.status)
			second := strings.Contains(r.body, "The Second</h1>")
			require.NotEqual(t, second, strings.Contains(r.body, "The Complete Guide</h1>"))
			shown := map[bool]string{false: "a", true: "b"}[second]
			require.Contains(t, r.body, `name="headline" value="`+shown+`"`)
			require.Empty(t, r.header.Get("Set-Cookie"))
			require.Contains(t, []string{"", shown}, which)
			which = shown
		}
		seen[which]++
	}
	require.InDelta(t, 20, seen["a"], 12)

	for email, shown := range map[string]string{"a@example.com": "a", "b@example.com": "b"} {
		r := f.post(t, "/l/"+slug, "email", "nothing", "headline", shown)
		require.Equal(t, http.StatusUnprocessableEntity, r.status)
		require.Contains(t, r.body, `name="headline" value="`+shown+`"`, "it is the page that was shown before")
		require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", email, "headline", shown).status)
		require.Equal(t, shown == "b", one[bool](t, f, `SELECT headline_b FROM submissions WHERE email = $1`, email))
	}
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", "own@example.com").status, "a form elsewhere")
	require.True(t, one[bool](t, f, `SELECT headline_b IS NULL FROM submissions WHERE email = 'own@example.com'`))

	// A page with one headline says nothing of it.
	slug = f.link(t)
	require.NotContains(t, f.get(t, "/l/"+slug).body, `name="headline"`)
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", "c@example.com", "headline", "b").status)
	require.True(t, one[bool](t, f, `SELECT headline_b IS NULL FROM submissions WHERE email = 'c@example.com'`))
}
