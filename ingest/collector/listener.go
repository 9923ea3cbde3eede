package collector

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/pkg/descriptor"
)

// listener knows its open connections, for four things that the server does not do: ending those
// on which nothing was ever sent (browsers open some ahead of need) when it stops, rather than waiting
// five seconds for each; ending them without an answer when their time is over, which a browser would take for one to its
// next request; letting a client that is still sending read the refusal of its request; and
// answering connections beyond the limits in the form of all other answers (turnaway.go).
type listener struct {
	net.Listener
	closeOnce sync.Once
	closed    chan struct{}
	mu        sync.Mutex
	conns     map[*conn]struct{}
	perIP     map[netip.Addr]int // only if there is a limit
	limits    connLimits
	turnedAway
}

func newListener(l net.Listener, limits connLimits) *listener {
	return &listener{Listener: l, closed: make(chan struct{}), conns: make(map[*conn]struct{}), perIP: make(map[netip.Addr]int), limits: limits}
}

// How long Accept waits before it tries again when no file descriptor is free.
const (
	firstAcceptRetry = 5 * time.Millisecond
	lastAcceptRetry  = 500 * time.Millisecond
)

// Accept implements net.Listener. Without a free file descriptor it waits and tries again: the server takes
// any error for the end of the listener. A connection that its client aborted is passed over by package net.
func (l *listener) Accept() (net.Conn, error) {
	retry := firstAcceptRetry
	for {
		inner, err := l.Listener.Accept()
		if descriptor.IsExhausted(err) {
			l.limits.exhausted(err)
			select {
			case <-time.After(retry):
			case <-l.closed:
				return nil, net.ErrClosed
			}
			retry = min(2*retry, lastAcceptRetry)
			continue
		}
		if err != nil {
			return nil, err // the server compares it
		}
		retry = firstAcceptRetry
		c := &conn{Conn: inner, listener: l}
		if reason, ok := l.add(c); !ok {
			l.turnAway(inner, reason, l.limits)
			continue
		}
		return c, nil
	}
}

// add counts a connection if it is within the limits.
func (l *listener) add(c *conn) (refusalReason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.limits.total {
		return refusedConnections, false
	}
	if l.limits.perIP > 0 {
		if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			c.addr = tcp.AddrPort().Addr().Unmap()
		}
		if l.perIP[c.addr] >= l.limits.perIP {
			return refusedAddressConnections, false
		}
		l.perIP[c.addr]++
	}
	l.conns[c] = struct{}{}
	return 0, true
}

// remove undoes add. Only the first of several calls has an effect.
func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.conns[c]; !open {
		return
	}
	delete(l.conns, c)
	if l.limits.perIP > 0 {
		if l.perIP[c.addr]--; l.perIP[c.addr] == 0 {
			delete(l.perIP, c.addr)
		}
	}
}

// Close implements net.Listener. Only the first of several calls has an effect.
func (l *listener) Close() (err error) {
	l.closeOnce.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
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
	reading  moment
	writing  moment
	addr     netip.Addr  // only if connections are counted by it
	spoke    atomic.Bool // something was received
	linger   atomic.Bool // the client may still be sending
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if at, due := c.reading.due(c.listener.limits.slack); due {
		if err := c.Conn.SetReadDeadline(at); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b)
	if !c.spoke.Load() {
		if n > 0 {
			c.spoke.Store(true)
		} else if err != nil {
			return 0, io.EOF // nothing was asked: the server is to close without an answer, as after an answer's last byte
		}
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if at, due := c.writing.due(c.listener.limits.slack); due {
		if err := c.Conn.SetWriteDeadline(at); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}

// SetReadDeadline implements net.Conn. It is about the next Read, not about one under way.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.reading.wanted = t
	return nil
}

// SetWriteDeadline implements net.Conn. It is about the next Write, not about one under way.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writing.wanted = t
	return nil
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	c.reading.wanted, c.writing.wanted = t, t
	return nil
}

// Close implements net.Conn. If the client may still be sending, closing at once would make the
// kernel reset the connection, and the client would lose the answer: so the rest of its request is
// read and thrown away first, within narrow limits.
func (c *conn) Close() error {
	c.listener.remove(c)
	if c.linger.CompareAndSwap(true, false) {
		c.drain()
	}
	return c.Conn.Close()
}

func (c *conn) drain() { drain(c.Conn, 2*time.Second) }

// drain tells the client that nothing more comes, and reads what it still sends.
func drain(c net.Conn, maxWait time.Duration) {
	const maxBytes = 8 << 20
	tcp, ok := c.(*net.TCPConn)
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
