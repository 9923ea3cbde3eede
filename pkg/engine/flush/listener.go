package flush

import (
	"net"
)

// Listen is net.Listen, except that every write to a connection waits for Flush. If that fails,
// nothing is written and the connection is of no more use.
func (f *Flusher) Listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address) //nolint:noctx // as the broker would call it
	if err != nil {
		return nil, err
	}
	return listener{l, f}, nil
}

type listener struct {
	net.Listener
	flusher *Flusher
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c, l.flusher}, nil
}

type conn struct {
	net.Conn
	flusher *Flusher
}

func (c conn) Write(b []byte) (int, error) {
	if err := c.flusher.Flush(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
