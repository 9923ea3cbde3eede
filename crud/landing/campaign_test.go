package landing_test

import (
	"html"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page keeps of its address what browsers read there, and an app is a source as a page is.
func TestCampaignOfThePage(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	for query, want := range map[string]string{
		"utm_source=footer_%25%": "footer_%%", "utm_source=%XYspring": "%XYspring", "utm_source=red;blue": "red;blue",
		"utm_source=Zoe%CC%88": "Zoë", "utm_source=r%F4le": "rle",
	} {
		r := f.get(t, "/l/"+slug+"?"+query, "Referer", "android-app://org.example.reader/")
		require.Contains(t, html.UnescapeString(r.body), `<input type="hidden" name="utm_source" value="`+want+`">`, query)
		require.Contains(t, r.body, `<input type="hidden" name="ref" value="android-app://org.example.reader/">`)
	}
}

// Who asks not to be tracked leaves no source, neither in the page nor in the submission.
func TestNoSourceOfWhoAsksForPrivacy(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	for _, signal := range []string{"Sec-GPC", "DNT"} {
		r := f.get(t, "/l/"+slug+"?utm_source=privatenews", signal, "1", "Referer", "https://privatesite.example/a")
		require.Equal(t, http.StatusOK, r.status)
		require.NotContains(t, r.body, "privatenews")
		require.NotContains(t, r.body, "privatesite")
		form := values("email", signal+"@example.com", "utm_source", "privatenews", "ref", "https://privatesite.example/a")
		require.Less(t, f.do(t, "POST", "/l/"+slug, form, "Sec-Fetch-Site", "same-origin", signal, "1").status, 400)
	}
	require.Equal(t, 2, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Zero(t, one[int](t, f,
		`SELECT count(*) FROM submissions WHERE utm::text LIKE '%private%' OR referrer IS NOT NULL AND referrer != ''`))
}
