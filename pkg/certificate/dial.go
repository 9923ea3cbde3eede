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

// Dialer connects over TLS to servers whose authorities the system trusts, and explains what is
// wrong with their certificates. It is safe for concurrent use.
type Dialer struct {
	// NetDialer makes the connections below TLS; nil: one with a timeout of 5 s.
	NetDialer *net.Dialer
	// SkipVerify connects to any server. Nothing is known about who it is.
	SkipVerify bool
	// ServerName is the name that the server has to prove; "": the host of the address.
	ServerName string

	own string // file of the certificate of a listener of this process, which is trusted whatever its names; "": none
}

// TLS returns the setting of one connection to a host.
func (d *Dialer) TLS(host string) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	settings.InsecureSkipVerify = d.SkipVerify
	if d.own == "" {
		return settings, nil
	}
	var err error
	if settings.RootCAs, err = roots(d.own); err != nil {
		return nil, fmt.Errorf("read the certificate of this process: %w", err)
	}
	settings.ServerName, err = firstName(d.own)
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
	conn, err := (&tls.Dialer{NetDialer: below, Config: settings}).DialContext(ctx, network, address)
	if err != nil {
		return nil, Explain(err, address, TrustBySystem)
	}
	return conn, nil
}

// HTTP returns a transport that connects to addresses of https by the dialer. The transport given
// is changed.
func (d *Dialer) HTTP(t *http.Transport) *Transport {
	t.DialTLSContext = d.DialContext
	return HTTP(t)
}

// Transport explains errors of certificates.
type Transport struct{ *http.Transport }

// HTTP returns a transport that explains errors of certificates.
func HTTP(t *http.Transport) *Transport { return &Transport{t} }

// DefaultHTTP is HTTP for a transport like that of http.DefaultClient.
func DefaultHTTP() *Transport {
	return HTTP(http.DefaultTransport.(*http.Transport).Clone())
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err != nil {
		err = Explain(err, r.URL.Host, TrustBySystem)
	}
	return answer, err
}

// explainedError is an error of certificates with what to do about it.
type explainedError struct {
	text  string
	cause error
}

// Error implements error.
func (e *explainedError) Error() string { return e.text }

// Unwrap returns the error as crypto/tls has it.
func (e *explainedError) Unwrap() error { return e.cause }

// IsExplained reports whether an error says what to do about a certificate, as Explain makes it.
func IsExplained(err error) bool {
	_, yes := errors.AsType[*explainedError](err)
	return yes
}

// TrustBySystem says how to make a process trust one more authority.
const TrustBySystem = "name a file with that authority's certificate in the environment variable SSL_CERT_FILE"

// Explain returns an error of a connection to an address so that it says what is wrong with a
// certificate and what to do. trust says how to trust one more authority. It returns any other
// error as it is.
func Explain(err error, address, trust string) error {
	if IsExplained(err) {
		return err
	}
	if text := explanation(err, address, trust); text != "" {
		return &explainedError{text, err}
	}
	return err
}

func explanation(err error, address, trust string) string {
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		signer := "an authority"
		if unknown.Cert != nil {
			signer = fmt.Sprintf("%q", issuer(unknown.Cert))
		}
		return fmt.Sprintf("the certificate of %s is signed by %s, which is not trusted: %s", address, signer, trust)
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("the certificate of %s is not for that name (%v): use a name of the certificate in the address, or issue one for this name", address, other)
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Sprintf("the certificate of %s is not valid now (%v): renew it, or correct the clock", address, invalid)
	}
	// The alerts of package tls have no exported type.
	if remote, ok := errors.AsType[*net.OpError](err); ok && remote.Op == "remote error" &&
		strings.HasSuffix(remote.Err.Error(), "certificate required") {
		return fmt.Sprintf("%s asks for a client certificate (%v), and Lodestone has none: let the server take connections without one", address, remote.Err)
	}
	return ""
}

// issuer returns the name of the authority that signed a certificate.
func issuer(c *x509.Certificate) string { return cmp.Or(c.Issuer.CommonName, c.Issuer.String()) }
