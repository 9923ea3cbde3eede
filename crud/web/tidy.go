package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// lowered are the paths of pages whose last part has no capitals: phones begin words with them, and
// some programs write all of an address so.
var lowered = []string{"/l/", "/a/", "/verify/", "/verify/sent/", "/s/", "/dashboard/sign-in/link/",
	"/dashboard/sign-in/once/", "/dashboard/sign-in/invitation/"}

// exact are the paths of pages whose last part may have capitals.
var exact = []string{"/notices/", "/notices/confirm/", "/notices/weekly/"}

// withoutSurroundings returns the address that a request for a page that is not there means, "" if
// it means no other: mail programs and chats take the punctuation that follows a link for a part of
// it, and people append a campaign with & for ?.
func withoutSurroundings(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Contains(r.URL.Path,
		"\x00") { // no program adds that
		return ""
	}
	path := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, r.URL.Path)
	path, appended := cut(path, "?&")
	path = strings.TrimRightFunc(path, func(c rune) bool { return !isOfToken(c) })
	slash := strings.LastIndexByte(path, '/') + 1
	folder, last := strings.ToLower(path[:slash]),
		strings.TrimLeftFunc(path[slash:], func(c rune) bool { return !isOfToken(c) })
	if end := strings.IndexFunc(last, func(c rune) bool { return !isOfToken(c) }); end >= 0 {
		last = last[:end]
	}
	switch {
	case slices.Contains(lowered, folder):
		last = strings.ToLower(last)
	case !slices.Contains(exact, folder):
		return ""
	}
	to := folder + last
	if last == "" || to == r.URL.Path {
		return ""
	}
	query := r.URL.RawQuery
	if more, _ := url.ParseQuery(strings.TrimPrefix(appended,
		"amp;")); len(more) > 0 { // what of it cannot be read is left out
		query = strings.Trim(more.Encode()+"&"+query, "&")
	}
	if query != "" {
		to += "?" + query
	}
	return to
}

// cut returns what stands before the first of some characters, and what stands behind it.
func cut(text, characters string) (before, behind string) {
	if i := strings.IndexAny(text, characters); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// isOfToken reports whether slugs and tokens may have a character.
func isOfToken(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// redirectTidy redirects a request for a page that is not there to the one that it means, if there
// may be one.
func (s *Site) redirectTidy(w http.ResponseWriter, r *http.Request) bool {
	to := withoutSurroundings(r)
	if to == "" {
		return false
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin")
	http.Redirect(w, r, s.Path(to), http.StatusFound) //nolint:gosec // to a path of ours, with a token of harmless characters
	return true
}
