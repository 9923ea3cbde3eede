package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Listener is what is examined of the certificate of a listener.
type Listener struct {
	Prefix string // of its settings
	Files  certificate.Server
	Public string // URL that browsers use, or ""
}

func (r *Report) listener(l Listener) {
	if err := l.Files.Validate(l.Prefix); err != nil {
		for _, p := range config.Problems(err) {
			r.fail("certificates", p.Remedy, "%s %s", p.Setting, p.Wrong)
		}
		return
	}
	r.certificateFile(l.Files.Cert)
	if l.Files.ClientCA != "" {
		r.certificateFile(l.Files.ClientCA)
	}
	pair, err := tls.LoadX509KeyPair(l.Files.Cert, l.Files.Key)
	if err != nil {
		return // it was just read
	}
	setting := "--" + l.Prefix + "tls-cert"
	names := slices.Clone(pair.Leaf.DNSNames)
	for _, ip := range pair.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		r.fail("certificates", "issue it with its names as subjectAltName: clients look at no other", "%s has no name (%s)", setting, l.Files.Cert)
		return
	}
	u, err := url.Parse(l.Public)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" {
		return
	}
	if pair.Leaf.VerifyHostname(u.Hostname()) == nil {
		r.ok("certificates", "%s is for %s", setting, u.Hostname())
		return
	}
	r.warn("certificates", "issue it for that name, unless a proxy with a certificate of its own is in front",
		"%s is for %s, and browsers ask for %s", setting, strings.Join(names, ", "), u.Hostname())
}

func (r *Report) certificateFile(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		r.fail("certificates", "correct the setting that names it", "%s cannot be read: %v", file, err)
		return
	}
	found := false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		found = true
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			r.fail("certificates", "write it again", "%s has a certificate that cannot be read: %v", file, err)
			continue
		}
		r.expiry(file, c)
	}
	if !found {
		r.fail("certificates", "write a certificate in PEM into it", "%s has no certificate", file)
	}
}

func (r *Report) expiry(where string, c *x509.Certificate) {
	switch left := time.Until(c.NotAfter); {
	case left < 0:
		r.fail("certificates", "renew it", "%s: the certificate of %s expired at %s", where, c.Subject.CommonName, c.NotAfter.Format(time.RFC3339))
	case left < warnExpiry:
		r.warn("certificates", "renew it, and find out why that did not happen by itself", "%s: the certificate of %s expires at %s", where, c.Subject.CommonName, c.NotAfter.Format(time.RFC3339))
	case time.Now().Before(c.NotBefore):
		r.fail("certificates", "correct the clock, or the certificate", "%s: the certificate of %s is valid from %s only", where, c.Subject.CommonName, c.NotBefore.Format(time.RFC3339))
	default:
		r.ok("certificates", "%s: valid until %s", where, c.NotAfter.Format(time.DateOnly))
	}
}

// address connects to an address as a browser does.
func (r *Report) address(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := (&certificate.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		r.fail("certificates", "correct the proxy in front, its certificate, or the address", "%s is not reachable as browsers do: %v", address, err)
		return
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if c, ok := conn.(*tls.Conn); ok {
		r.expiry(address, c.ConnectionState().PeerCertificates[0])
	}
}
