package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// signedIn opens an address that signs in, as a browser does, and returns the session's cookie.
// (Go's cookie jar sends no cookie with Secure over http, which browsers do on this machine.)
func signedIn(t *testing.T, address string) *http.Cookie {
	t.Helper()
	res := browse(t, address, nil)
	require.Equal(t, 303, res.status, res.body)
	require.Equal(t, "/dashboard", res.header.Get("Location"))
	for _, line := range res.header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		require.NoError(t, err)
		if strings.HasPrefix(c.Name, "__Host-lodestone") {
			require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.SameSite == http.SameSiteLaxMode, line)
			return c
		}
	}
	require.Fail(t, "no session", res.header)
	return nil
}

type browsed struct {
	status int
	header http.Header
	body   string
}

// browse gets a page with a cookie, or without one if it is nil, and follows no redirect.
func browse(t *testing.T, address string, cookie *http.Cookie, header ...string) browsed {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	if cookie != nil {
		req.AddCookie(cookie)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") { // it does not end
		return browsed{res.StatusCode, res.Header, ""}
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return browsed{res.StatusCode, res.Header, string(text)}
}

// signsIn shows that the address that `up` writes down, and prints to a terminal, signs its owner
// in once per start.
func (u *up) signsIn(t *testing.T) (again func()) {
	t.Helper()
	site, address := u.env["LODESTONE_URL"], u.env["LODESTONE_DASHBOARD_URL"]
	require.NotContains(t, u.out.String(), address, "a service manager keeps what it prints")
	require.Equal(t, "/dashboard/sign-in?next=%2Fdashboard", browse(t, site+"/dashboard", nil).header.Get("Location"))
	cookie := signedIn(t, address)
	page := browse(t, site+"/dashboard", cookie)
	require.Equal(t, 200, page.status, page.body)
	require.Contains(t, page.body, "owner@example.com")
	require.Equal(t, 410, browse(t, address, nil).status)

	// The cookie opens the stream to pages of the dashboard, and nothing else of the API.
	live := site + "/api/v1/analytics/live"
	require.Equal(t, 200, browse(t, live, cookie, "Sec-Fetch-Site", "same-origin").status)
	for _, from := range []string{"cross-site", "same-site", "none", ""} {
		require.Equal(t, 401, browse(t, live, cookie, "Sec-Fetch-Site", from).status, from)
	}
	require.Equal(t, 401, browse(t, site+"/api/v1/account", cookie, "Sec-Fetch-Site", "same-origin").status)
	require.Equal(t, 401, browse(t, site+"/api/v1/analytics", cookie, "Sec-Fetch-Site", "same-origin").status)

	return func() {
		require.NotEqual(t, address, u.env["LODESTONE_DASHBOARD_URL"])
		require.Equal(t, 200, browse(t, u.env["LODESTONE_URL"]+"/dashboard", cookie).status, "the session goes on")
		signedIn(t, u.env["LODESTONE_DASHBOARD_URL"])
	}
}
