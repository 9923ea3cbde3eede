package certificate

import (
	"net"
	"net/url"
)

// StrictTransport returns the value of the header Strict-Transport-Security for what is served at a
// public URL: browsers then use TLS only for that host, for a year. Subdomains may be others'. It
// returns "" for an address without TLS, one of this machine, and one without a name, for which
// browsers ignore it.
func StrictTransport(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil || u.Scheme != "https" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()) != nil {
		return ""
	}
	return "max-age=31536000"
}
