package crud_test

import (
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/signin"
	"lodestone/pkg/client"
)

// tlsJar keeps the cookies of a site behind TLS, which the test's server is not.
type tlsJar struct{ *cookiejar.Jar }

func (j tlsJar) SetCookies(u *url.URL, cookies []*http.Cookie) { j.Jar.SetCookies(overTLS(u), cookies) }

func (j tlsJar) Cookies(u *url.URL) []*http.Cookie { return j.Jar.Cookies(overTLS(u)) }

func overTLS(u *url.URL) *url.URL {
	secure := *u
	secure.Scheme = "https"
	return &secure
}

// browser is a person's browser that is signed in to the dashboard.
type browser struct {
	t    *testing.T
	http *http.Client
	site string
}

// page is an answer of the dashboard.
type page struct {
	status int
	header http.Header
	text   string
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// hidden returns the hidden fields of the forms of a page that hold the session's token and what a
// form showed at first.
func (p page) hidden() url.Values {
	q := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(p.text, -1) {
		switch {
		case field[1] == "csrf":
			q.Set("csrf", field[2])
		case strings.HasPrefix(field[1], signin.FirstPrefix):
			q.Add(field[1], html.UnescapeString(field[2]))
		}
	}
	return q
}

func (b *browser) read(res *http.Response, err error) page {
	b.t.Helper()
	require.NoError(b.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return page{res.StatusCode, res.Header, string(text)}
}

func (b *browser) get(path string) page {
	b.t.Helper()
	return b.read(b.http.Get(b.site + path))
}

// post sends the form of a page with what was typed into it.
func (b *browser) post(from page, path string, typed url.Values) page {
	b.t.Helper()
	q := from.hidden()
	maps.Copy(q, typed)
	return b.read(b.http.PostForm(b.site+path, q))
}

// signIn signs in with the key of a user, as one is led to it from a screen.
func (u *user) signIn(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	b := &browser{t, &http.Client{Jar: tlsJar{jar},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, u.fixture.url}
	first := b.get("/dashboard")
	require.Equal(t, http.StatusSeeOther, first.status)
	require.Contains(t, first.header.Get("Location"), "/dashboard/sign-in?next=")
	done := b.post(b.get("/dashboard/sign-in"), "/dashboard/sign-in/key",
		url.Values{"key": {u.key}, "next": {"/dashboard"}})
	require.Equal(t, http.StatusSeeOther, done.status, done.text)
	return b
}

// While the query process is away, screens with numbers say so, and forms work.
func TestDashboardWithoutAnalytics(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.QueryURL = "http://127.0.0.1:1" })
	u := f.user(t, account.Team)
	magnet := u.post(t, "/api/v1/lead-magnets", `{"title":"Guide"}`).object(t)
	self := "/dashboard/magnets/" + magnet["id"].(string)
	b := u.signIn(t)
	for _, path := range []string{"/dashboard", "/dashboard?days=7", "/dashboard/readers", "/dashboard/live", self} {
		p := b.get(path)
		require.Equal(t, http.StatusServiceUnavailable, p.status, path)
		require.Contains(t, p.text, "The numbers are unavailable", path)
		require.Contains(t, p.text, "Try again", path)
		require.Contains(t, p.text, `aria-label="Dashboard"`, "the navigation is there")
	}
	form := b.get("/dashboard/new")
	require.Equal(t, http.StatusOK, form.status)
	values := url.Values{"title": {"A better guide"}}
	p := b.post(form, self+"/edit", values)
	require.Equal(t, http.StatusSeeOther, p.status, p.text)
	require.Equal(t, "A better guide", u.get(t, "/api/v1/lead-magnets/"+magnet["id"].(string)).object(t)["title"])

	values.Set("csrf", "forged")
	require.Equal(t, http.StatusForbidden, b.post(form, self+"/edit", values).status,
		"a form without the session's token is refused")
	require.Equal(t, http.StatusNotFound, b.get("/dashboard/magnets/none").status)
}

// Excel takes a CSV file for UTF-8 only after a byte order mark.
func TestAFileOfSubmissionsOpensInExcel(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: u.magnet(t).ID, CollectName: true})
	require.NoError(t, err)
	u.submitMany(t, link.ID, 5)
	b := u.signIn(t)
	for _, query := range []string{"", "?q=user", "?format=csv&q="} {
		p := b.get("/dashboard/links/" + link.ID + "/submissions.csv" + query)
		require.Equal(t, http.StatusOK, p.status, p.text)
		require.Contains(t, p.header.Get("Content-Type"), "text/csv")
		require.True(t, strings.HasPrefix(p.text, "\xEF\xBB\xBF"), query)
		require.Equal(t, 1, strings.Count(p.text, "\xEF\xBB\xBF"), query)
		require.Contains(t, p.text, "ünï 😀", query)
	}
}

// Two tabs that were open before either was saved: the second undoes nothing of the first.
func TestTwoTabsLoseNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	b := u.signIn(t)
	const settings = "/dashboard/settings"
	first, second := b.get(settings), b.get(settings)
	shown := url.Values{"name": {"Test"}, "brand_font": {"system"}, "timezone": {"UTC"},
		"brand_color": {""}, "language": {""}}
	with := func(field, value string) url.Values {
		q := maps.Clone(shown)
		q[field] = []string{value}
		return q
	}
	for _, save := range []struct {
		tab   page
		typed url.Values
	}{{first, with("name", "Acme")}, {second, with("timezone", "Europe/Berlin")}, {first, with("brand_color", "#006600")},
		{second, with("language", "fr")}} {
		p := b.post(save.tab, settings, save.typed)
		require.Equal(t, http.StatusSeeOther, p.status, p.text)
	}
	own := u.get(t, "/api/v1/account").object(t)
	require.Equal(t, []any{"Acme", "Europe/Berlin", "#006600", "fr", "system"},
		[]any{own["name"], own["timezone"], own["brand_color"], own["language"], own["brand_font"]})
}
