package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Policy lists the permissions of a page beyond showing itself. The zero value allows its own
// styles and scripts (by nonce) and images of this site.
type Policy struct {
	Connect []string // URLs or origins that scripts may talk to; this site is among them where Scripts says so
	Images  []string // URLs or origins of images elsewhere
	Forms   []string // URLs that a form may lead to by a redirect, and on from there; this site always
	Scripts bool     // scripts of /assets/ may be loaded, start workers, and talk to this site
	Wasm    bool     // scripts may compile WebAssembly
	Frames  bool     // pages of this site that allow it may be shown within this one
	Framed  bool     // pages of this site may show it within them

	font       bool // the shipped typeface is loaded
	NoReferrer bool // requests from the page do not tell its address, not even to this site
}

// secure sets the headers of a page. Addresses of pages are secrets, so other hosts never learn
// them.
func secure(h http.Header, p Policy, nonce string) {
	ancestors, options := "'none'", "DENY" // the second for browsers that do not know the first
	if p.Framed {
		ancestors, options = "'self'", "SAMEORIGIN"
	}
	directives := []string{
		"default-src 'none'", "style-src 'nonce-" + nonce + "'",
		list("img-src 'self' data:", p.Images), formAction(p.Forms),
		"base-uri 'none'", "frame-ancestors " + ancestors,
	}
	script, connect := "script-src 'nonce-"+nonce+"'", "connect-src"
	if p.font && !p.Scripts {
		directives = append(directives, "font-src 'self'")
	}
	if p.Scripts {
		script += " 'self'"
		connect += " 'self'"
		directives = append(directives, "worker-src 'self' blob:", "font-src 'self' data: blob:")
	}
	if p.Wasm {
		script += " 'wasm-unsafe-eval'"
	}
	if p.Frames {
		directives = append(directives, "frame-src 'self'")
	}
	directives = append(directives, script)
	if connect = list(connect, p.Connect); connect != "connect-src" {
		directives = append(directives, connect)
	}
	h.Set("Content-Security-Policy", strings.Join(directives, "; "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", options)
	h.Set("Referrer-Policy", "same-origin")
	if p.NoReferrer {
		h.Set("Referrer-Policy", "no-referrer")
	}
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy",
		"accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "+
			"magnetometer=(), microphone=(), midi=(), payment=(), usb=()")
}

// formAction names the schemes of where forms lead, not the origins: browsers hold every redirect
// of an answered form against it, and a page elsewhere may well lead on, to its www or to https.
// Who is refused there sees nothing happen at all. The form's own address is fixed, and every
// script is ours.
func formAction(addresses []string) string {
	tls, plain := "", ""
	for _, a := range addresses {
		if origin := Origin(a); origin != "" {
			tls = " https:"
			if strings.HasPrefix(origin, "http:") {
				plain = " http:"
			}
		}
	}
	return "form-action 'self'" + tls + plain
}

func list(directive string, addresses []string) string {
	parts := []string{directive}
	for _, a := range addresses {
		if origin := Origin(a); origin != "" {
			parts = append(parts, origin)
		}
	}
	return strings.Join(parts, " ")
}

// CheckURL returns what is wrong with a text that should be a full http or https URL of a host,
// without a password in it, or "".
func CheckURL(text, example string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "must be a full http or https URL, such as " + example
	}
	return CheckPort(u)
}

// CheckPort returns what is wrong with the port of a URL, or "".
func CheckPort(u *url.URL) string {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return "has the port " + u.Port() + ": ports are 1 to 65535"
	}
	return ""
}

var plainHost = regexp.MustCompile(`^[a-z0-9.\-_]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$`)

// Origin returns the origin of an http or https URL as a policy names it, or "" for any other. A
// host with signs that would end a directive has none; one in another script is given in ASCII, as
// browsers do.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || CheckPort(u) != "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		name, err := idna.Lookup.ToASCII(u.Hostname())
		if err != nil {
			return ""
		}
		host = name
		if port := u.Port(); port != "" {
			host += ":" + port
		}
	}
	if !plainHost.MatchString(host) {
		return ""
	}
	return u.Scheme + "://" + host
}
