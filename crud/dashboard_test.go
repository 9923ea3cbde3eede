package crud_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
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

// While the query process is away, screens with numbers say so, and forms work.
func TestDashboardWithoutAnalytics(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.QueryURL = "http://127.0.0.1:1" })
	u := f.user(t, account.Team)
	magnet := u.post(t, "/api/v1/lead-magnets", `{"title":"Guide"}`).object(t)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: tlsJar{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	read := func(res *http.Response, err error) (int, http.Header, string) {
		t.Helper()
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, res.Header, string(text)
	}
	token := regexp.MustCompile(`name="csrf" value="([^"]+)"`)

	status, header, _ := read(browser.Get(f.url + "/dashboard")) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, header.Get("Location"), "/dashboard/sign-in?next=")
	_, _, form := read(browser.Get(f.url + "/dashboard/sign-in"))                                                                                                              //nolint:bodyclose // read closes it
	status, _, text := read(browser.PostForm(f.url+"/dashboard/sign-in/key", url.Values{"csrf": {token.FindStringSubmatch(form)[1]}, "key": {u.key}, "next": {"/dashboard"}})) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusSeeOther, status, text)

	for _, path := range []string{"/dashboard", "/dashboard?days=7", "/dashboard/readers", "/dashboard/live", "/dashboard/magnets/" + magnet["id"].(string)} {
		status, _, text = read(browser.Get(f.url + path)) //nolint:bodyclose // read closes it
		require.Equal(t, http.StatusServiceUnavailable, status, path)
		require.Contains(t, text, "The numbers are not available", path)
		require.Contains(t, text, "Try again", path)
		require.Contains(t, text, `aria-label="Dashboard"`, "the navigation is there")
	}
	status, _, text = read(browser.Get(f.url + "/dashboard/new")) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusOK, status)
	self := f.url + "/dashboard/magnets/" + magnet["id"].(string)
	values := url.Values{"csrf": {token.FindStringSubmatch(text)[1]}, "title": {"A better guide"}}
	status, _, text = read(browser.PostForm(self+"/edit", values)) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusSeeOther, status, text)
	require.Equal(t, "A better guide", u.get(t, "/api/v1/lead-magnets/"+magnet["id"].(string)).object(t)["title"])

	values.Set("csrf", "forged")
	status, _, _ = read(browser.PostForm(self+"/edit", values)) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusForbidden, status, "a form without the session's token is refused")
	status, _, _ = read(browser.Get(f.url + "/dashboard/magnets/none")) //nolint:bodyclose // read closes it
	require.Equal(t, http.StatusNotFound, status)
}
