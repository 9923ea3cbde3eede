package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/problem"
	"lodestone/pkg/slot"
)

// Connections that are open at a time, and after what time one that is refused can be tried again.
const (
	maxConnections       = 4096
	maxClientConnections = 256
	connectAgain         = 5 * time.Second
)

// TrustProxies lets the addresses for which trusted returns true have more connections than one
// client may: behind a proxy there are many. Every other address (an IPv6 network of 64 bits) has
// its share, also on the machine itself and in a private network: there as well, one client must
// not keep the others out. Call it before Start.
func (s *Server) TrustProxies(trusted func(netip.Addr) bool) { s.trusted = trusted }

// client returns whom a connection is counted for; the zero address stands for no one in
// particular.
func (s *Server) client(c net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	if s.trusted != nil && s.trusted(addr) {
		return netip.Addr{}
	}
	return clientaddr.Network(addr)
}

type listener struct {
	net.Listener
	*Server
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.admitted()
	if err != nil {
		return nil, err
	}
	return &request{Conn: c, log: l.log}, nil
}

// admitted returns the next connection that is within the limits.
func (l listener) admitted() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.admit(c); admitted != nil {
			return admitted, nil
		}
	}
}

// Addr implements net.Listener.
func (l listener) Addr() net.Addr { return l.Listener.Addr() }

// admit returns the connection, which gives its place back when it is closed, or nil if it was
// refused.
func (l listener) admit(c net.Conn) net.Conn {
	release, err := l.open.Take(l.client(c), 1)
	if err != nil {
		l.refuse(c, err)
		return nil
	}
	return &conn{Conn: c, release: release}
}

// refuse answers a connection before it has sent a request, and closes it. It does not wait: a few
// hundred bytes fit into the buffer of a new connection. Over TLS there is no answer, since a
// handshake would have to come first.
func (l listener) refuse(c net.Conn, err error) {
	l.log.Debug("connection refused", "reason", err)
	if l.secure != nil {
		_ = c.Close() // nothing depends on it
		return
	}
	p := problem.New(problem.Unavailable, "The server has as many connections as it can have. Connect again later.")
	if errors.Is(err, slot.ErrOwner) {
		p = problem.New(problem.RateLimited, "Your address has as many connections as it can have. Close some, or use one for several requests. A proxy has no such limit if --trusted-proxies names it.")
	}
	p = p.RetryAfter(connectAgain)
	p.Title = http.StatusText(p.Status)
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_ = write(c, p, uuid.NewString()) // a client that left needs no answer
	_ = c.Close()
}

// conn is a connection that counts towards the limits until it is closed.
type conn struct {
	net.Conn
	release func() // gives back its slot
}

// CloseWrite ends the sending half, as net/http does before it closes a connection whose request it
// did not read to the end.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// write sends a problem as a complete HTTP/1.1 response.
func write(w io.Writer, p *problem.Problem, requestID string) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write problem: %w", err)
	}
	header := p.Header()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", problem.ContentType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Request-Id", requestID)
	answer := http.Response{StatusCode: p.Status, ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Close: true}
	return answer.Write(w)
}
