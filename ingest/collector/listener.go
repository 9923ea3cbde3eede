package collector

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// listener knows its open connections, for two things that the server does not do: ending those on
// which nothing was ever sent (browsers open some ahead of need) when it stops, rather than waiting
// five seconds for each; and letting a client that is still sending read the refusal of its request.
type listener struct {
	net.Listener
	closeOnce sync.Once
	mu        sync.Mutex
	conns     map[*conn]struct{}
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, conns: make(map[*conn]struct{})}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err // the server compares it
	}
	c := &conn{Conn: inner, listener: l}
	l.mu.Lock()
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	return c, nil
}

// Close implements net.Listener. Only the first of several calls has an effect.
func (l *listener) Close() (err error) {
	l.closeOnce.Do(func() { err = l.Listener.Close() })
	return err
}

// find returns the connection that the server knows under another type, or nil.
func (l *listener) find(of net.Conn) *conn {
	if c, ok := of.(*conn); ok {
		return c
	}
	var found *conn
	l.each(func(c *conn) {
		if c.RemoteAddr() == of.RemoteAddr() {
			found = c
		}
	})
	return found
}

// closeSilent ends the listening, and the connections on which nothing was received.
func (l *listener) closeSilent() {
	_ = l.Close() // nothing can be done about a listener that does not close
	l.each(func(c *conn) {
		if !c.spoke.Load() {
			_ = c.Conn.Close()
		}
	})
}

// drained reports whether no connection is left.
func (l *listener) drained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns) == 0
}

// closeAll ends all connections.
func (l *listener) closeAll() { l.each(func(c *conn) { _ = c.Conn.Close() }) }

func (l *listener) each(fn func(*conn)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		fn(c)
	}
}

type conn struct {
	net.Conn
	listener *listener
	spoke    atomic.Bool // something was received
	linger   atomic.Bool // the client may still be sending
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.spoke.Load() {
		c.spoke.Store(true)
	}
	return n, err
}

// Close implements net.Conn. If the client may still be sending, closing at once would make the
// kernel reset the connection, and the client would lose the answer: so the rest of its request is
// read and thrown away first, within narrow limits.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	if c.linger.CompareAndSwap(true, false) {
		c.drain()
	}
	return c.Conn.Close()
}

func (c *conn) drain() {
	const (
		maxWait  = 2 * time.Second
		maxBytes = 8 << 20
	)
	tcp, ok := c.Conn.(*net.TCPConn)
	if !ok || tcp.CloseWrite() != nil || tcp.SetReadDeadline(time.Now().Add(maxWait)) != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for total := 0; total < maxBytes; {
		n, err := tcp.Read(buf)
		if err != nil {
			return
		}
		total += n
	}
}
