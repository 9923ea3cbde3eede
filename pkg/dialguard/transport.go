package dialguard

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Transport sends requests under a guard: over https to whatever the guard lets through, and over
// plain http only to the networks that it was given. It uses no proxy, and leaves answers
// compressed as they come. It is safe for concurrent use.
type Transport struct{ secure, plain *http.Transport }

var errPlain = errors.New("http is for allowed networks only: use https")

const (
	connectTimeout = 10 * time.Second
	maxHeaderBytes = 64 << 10
	maxIdle        = 128
	idleTimeout    = 30 * time.Second
)

// NewTransport returns a transport. Names are resolved by resolver, or as the system does if it is
// nil.
func NewTransport(g *Guard, resolver *net.Resolver) *Transport {
	return &Transport{
		secure: newTransport(g.control, resolver),
		plain: newTransport(func(network, address string, c syscall.RawConn) error {
			if err := g.control(network, address, c); err != nil {
				return err
			}
			if to, err := netip.ParseAddrPort(address); err != nil || !g.Allows(to.Addr()) {
				return errPlain
			}
			return nil
		}, resolver),
	}
}

func newTransport(control func(string, string, syscall.RawConn) error, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: control, Resolver: resolver}
	return &http.Transport{
		Proxy:                  nil, // a proxy would be dialled in place of the host
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return t.secure.RoundTrip(r)
	}
	return t.plain.RoundTrip(r) // refuses what is not http either
}

// CloseIdleConnections closes the idle connections that would serve later requests.
func (t *Transport) CloseIdleConnections() {
	t.secure.CloseIdleConnections()
	t.plain.CloseIdleConnections()
}
