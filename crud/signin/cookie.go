package signin

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"lodestone/pkg/auth"
)

// browserCookie is the cookie of a browser that signs in: it binds the mail's link and code to this
// browser.
const browserCookie = "__Host-sign-in-lodestone"

// cookieName returns the name of the session's cookie: with the port if the site's address has one,
// since browsers send the cookies of one port to all of them.
func cookieName(site *url.URL) string {
	if port := site.Port(); port != "" {
		return auth.SessionCookie + "-" + port
	}
	return auth.SessionCookie
}

// trustworthy reports whether browsers take cookies with Secure from the site: over TLS, and from
// this machine. (Chromium and Firefox do, as W3C Secure Contexts has it; older releases of Safari
// take them over TLS only.)
func trustworthy(site *url.URL) bool {
	if site.Scheme == "https" {
		return true
	}
	host := site.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// setCookie sets a cookie of the whole site; an empty value deletes it.
func setCookie(w http.ResponseWriter, name, value string, lasts time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(lasts.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

const (
	dashboardPath = "/dashboard"
	signInPath    = dashboardPath + "/sign-in"
	signOutPath   = dashboardPath + "/sign-out"
)

// nextOf returns where to go after signing in: a path of the dashboard with its query, or its first
// page for anything else.
func nextOf(text string) string {
	u, err := url.ParseRequestURI(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || path.Clean(u.Path) != u.Path ||
		strings.ContainsAny(u.Path, "\\\r\n\t") {
		return dashboardPath
	}
	if u.Path != dashboardPath && !strings.HasPrefix(u.Path, dashboardPath+"/") || strings.HasPrefix(u.Path, signInPath) ||
		strings.HasPrefix(u.Path, signOutPath) {
		return dashboardPath
	}
	next := url.URL{Path: u.Path, RawQuery: u.RawQuery}
	return next.RequestURI()
}

// redirect leads to a path of the site.
func (s *Service) redirect(w http.ResponseWriter, r *http.Request, path string) error {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, s.deps.Pages.Path(path), http.StatusSeeOther) //nolint:gosec // a path of the dashboard: nextOf lets nothing else pass
	return nil
}
