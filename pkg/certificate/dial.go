package certificate

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// dialTimeout bounds connecting and the handshake together.
const dialTimeout = 5 * time.Second

// Dialer connects over TLS with the files of settings, and explains what is wrong with certificates in the words of the settings. It is
// safe for concurrent use.
type Dialer struct {
	// NetDialer makes the connections below TLS; nil: one with a timeout of 5 s.
	NetDialer *net.Dialer
	// SkipVerify connects to any server. Nothing is known about who it is.
	SkipVerify bool
	// ServerName is the name that the server has to prove; "": the host of the address.
	ServerName string

	files Client
	self  bool // the server is one of this process
	names Names
}

// IsSet reports whether any file is named.
func (d *Dialer) IsSet() bool { return d.files.IsSet() }

// TLS reads the files, and returns the setting of one connection to a host.
func (d *Dialer) TLS(host string) (*tls.Config, error) {
	settings, err := d.files.TLS()
	if err != nil {
		return nil, err
	}
	settings.ServerName, settings.InsecureSkipVerify = host, d.SkipVerify
	if d.self {
		settings.ServerName, err = firstName(d.files.CA)
	}
	return settings, err
}

// DialContext returns a connection after its handshake.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	settings, err := d.TLS(cmp.Or(d.ServerName, host))
	if err != nil {
		return nil, err
	}
	below := d.NetDialer
	if below == nil {
		below = &net.Dialer{Timeout: dialTimeout}
	}
	secured, err := (&tls.Dialer{NetDialer: below, Config: settings}).DialContext(ctx, network, address)
	if err != nil {
		return nil, d.Explain(err, address)
	}
	return &conn{secured, d, address}, nil
}

// HTTP returns a transport that connects with the files, if any is named, to addresses of https. The transport given is changed.
func (d *Dialer) HTTP(t *http.Transport) *Transport {
	if d.files.IsSet() {
		t.DialTLSContext = d.DialContext
		if settings, err := d.TLS(""); err == nil { // for connections through a proxy, which DialTLSContext does not make
			t.TLSClientConfig = settings
		}
	}
	return &Transport{t, d}
}

// Default is HTTP for a transport like that of http.DefaultClient.
func (d *Dialer) Default() *Transport {
	return d.HTTP(http.DefaultTransport.(*http.Transport).Clone()) //nolint:forcetypeassert // nothing replaces it
}

// conn explains the answer to the certificate of this side, which arrives with the first bytes that are read (TLS 1.3).
type conn struct {
	net.Conn
	dialer  *Dialer
	address string
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		err = c.dialer.Explain(err, c.address)
	}
	return n, err //nolint:wrapcheck // a connection's error is passed on as it is
}

// Transport explains errors of certificates as its Dialer does.
type Transport struct {
	*http.Transport
	dialer *Dialer
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil {
		err = t.dialer.Explain(err, r.URL.Host)
	}
	return answer, err //nolint:wrapcheck // a transport's error is passed on as it is
}

// explained is an error of certificates with what to do about it.
type explained struct {
	text  string
	cause error
}

// Error implements error.
func (e *explained) Error() string { return e.text }

// Unwrap returns the error as crypto/tls has it.
func (e *explained) Unwrap() error { return e.cause }

// IsExplained reports whether an error names the setting that is wrong, as Explain makes it.
func IsExplained(err error) bool {
	_, yes := errors.AsType[*explained](err)
	return yes
}

// Explain returns an error of a connection to an address so that it names the setting that is wrong and says what to do. It returns any
// other error as it is.
func (d *Dialer) Explain(err error, address string) error {
	if IsExplained(err) {
		return err
	}
	if text := d.explanation(err, address); text != "" {
		return &explained{text, err}
	}
	return err
}

func (d *Dialer) explanation(err error, address string) string {
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		signer := "an authority"
		if unknown.Cert != nil {
			signer = fmt.Sprintf("%q", issuer(unknown.Cert))
		}
		if d.files.CA == "" {
			return fmt.Sprintf("the certificate of %s is signed by %s, which this system does not trust: name a file with that authority's certificate in %s", address, signer, d.names.CA)
		}
		return fmt.Sprintf("the certificate of %s is signed by %s, which is not in the file of %s (%s): add that authority's certificate to it", address, signer, d.names.CA, d.files.CA)
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the certificate of %s is not for that name (%v): use a name of the certificate in the address, or issue one for this name", address, other)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Sprintf("the certificate of %s is not valid now (%v): renew it, or correct the clock", address, invalid)
	}
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" {
		return ""
	}
	// The alerts of package tls have no exported type.
	alert := remote.Err.Error()
	none := strings.HasSuffix(alert, "certificate required") || d.files.Cert == "" && (strings.HasSuffix(alert, "bad certificate") || strings.HasSuffix(alert, "handshake failure"))
	switch {
	case none:
		return fmt.Sprintf("%s asks for a client certificate (%s): name files with one in %s and %s", address, alert, d.names.Cert, d.names.Key)
	case d.files.Cert != "" && strings.Contains(alert, "certificate"):
		return fmt.Sprintf("%s does not take the certificate of %s (%s): use one that is valid, for clients, and of an authority that the server trusts", address, d.names.Cert, alert)
	}
	return ""
}

// issuer returns the name of the authority that signed a certificate.
func issuer(c *x509.Certificate) string { return cmp.Or(c.Issuer.CommonName, c.Issuer.String()) }
