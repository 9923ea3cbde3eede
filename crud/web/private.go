package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// secretParameter is the query parameter of an address that opens a private page for the first
// time.
const secretParameter = "secret"

// private passes on requests that carry the secret of the site: as a bearer token, or in its
// cookie. An address with the secret as a query parameter sets the cookie and leads to the same
// page without the parameter, so that it stays in no history. Everything else gets the page that
// tells where the address is. Neither the names in a request nor where it comes from decide
// anything: a proxy on this machine, a tunnel, and a page whose host name was made to lead here
// (DNS rebinding) look like a local browser.
func (s *Site) private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case carries(r, s.secret, s.cookie):
			next.ServeHTTP(w, r)
		case equalSecrets(r.URL.Query().Get(secretParameter), s.secret):
			http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // not Secure: loopback is reached by plain HTTP
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Referrer-Policy", "no-referrer")
			u := *r.URL
			values := u.Query()
			values.Del(secretParameter)
			u.RawQuery = values.Encode()
			http.Redirect(w, r, s.Path(u.RequestURI()), http.StatusSeeOther) //nolint:gosec // the path of this request, below the site
		default:
			s.WriteError(w, r, Error(Private, Brand{}))
		}
	})
}

// carries reports whether a request has the secret as clients send it with every request.
func carries(r *http.Request, secret, cookie string) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && equalSecrets(token, secret) {
		return true
	}
	c, err := r.Cookie(cookie)
	return err == nil && equalSecrets(c.Value, secret)
}

// equalSecrets compares in a time that does not depend on what is equal. An empty secret equals
// nothing.
func equalSecrets(given, secret string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(secret))
	return secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
