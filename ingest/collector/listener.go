package collector

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/pkg/limit"
)

// listener bounds the open connections: beyond its limit, and while no file descriptor is free,
// clients wait until one ends. Its connections do two things that the server does not: they end
// without an answer if nothing came in their time, which a browser that opened one ahead of need
// would take for an answer to its next request; and they let a client that is still sending read
// the answer to its request.
type listener struct {
	net.Listener
	connLimits
	closeOnce sync.Once
	closed    chan struct{}
	slots     chan struct{} // one for each open connection
	mu        sync.Mutex
	conns     map[*conn]struct{}
}

// connLimits bounds the open connections.
type connLimits struct {
	total  int
	slack  time.Duration // by how much a timeout of a connection may be longer
	secure *tls.Config   // nil: plain HTTP
	waits  func(error)   // called when a connection has to wait
}

func newListener(l net.Listener, limits connLimits) *listener {
	return &listener{
		Listener: l, connLimits: limits, closed: make(chan struct{}),
		slots: make(chan struct{}, limits.total), conns: make(map[*conn]struct{}),
	}
}

// How long Accept waits before it tries again when no file descriptor is free.
const (
	firstAcceptRetry = 5 * time.Millisecond
	lastAcceptRetry  = 500 * time.Millisecond
)

var errNoRoom = errors.New("as many connections are open as may be")

// Accept implements net.Listener. Without a free file descriptor it waits and tries again: the
// server takes any error for the end of the listener. A connection that its client aborted is
// passed over by package net.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	default:
		l.waits(errNoRoom)
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	for retry := firstAcceptRetry; ; retry = min(2*retry, lastAcceptRetry) {
		inner, err := l.Listener.Accept()
		if limit.IsOutOfDescriptors(err) {
			l.waits(err)
			select {
			case <-time.After(retry):
				continue
			case <-l.closed:
				return nil, net.ErrClosed
			}
		}
		if err != nil {
			return nil, err // the server compares it
		}
		c := &conn{Conn: inner, listener: l}
		if l.secure != nil {
			c.Conn = tls.Server(inner, l.secure) // the first Read makes the handshake
		}
		l.mu.Lock()
		l.conns[c] = struct{}{}
		l.mu.Unlock()
		return c, nil
	}
}

// remove gives back the slot of a connection. Only the first of several calls has an effect.
func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.conns[c]; open {
		delete(l.conns, c)
		<-l.slots
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

// drained reports whether no connection is left.
func (l *listener) drained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns) == 0
}

// closeAll ends all connections.
func (l *listener) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Conn.Close()
	}
}

type conn struct {
	net.Conn
	listener *listener
	reading  lazyDeadline
	writing  lazyDeadline
	received bool        // something was received
	linger   atomic.Bool // the client may still be sending
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if at, due := c.reading.due(c.listener.slack); due {
		if err := c.Conn.SetReadDeadline(at); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b)
	c.received = c.received || n > 0
	if err != nil && !c.received {
		answerPlain(err)
		return 0, io.EOF // nothing was asked: the server is to close without an answer, as after an answer's last byte
	}
	return n, err
}

// answerPlain answers a client that speaks HTTP without TLS where TLS is served, as net/http does.
func answerPlain(err error) {
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && plain.RecordHeader[0] >= 'A' &&
		plain.RecordHeader[0] <= 'Z' {
		// a client that left needs none
		_, _ = plain.Conn.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"))
	}
}

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	if at, due := c.writing.due(c.listener.slack); due {
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
		drain(c.Conn)
	}
	return c.Conn.Close()
}

// drain signals the client that no more data comes, and reads what it still sends.
func drain(c net.Conn) {
	const (
		maxWait  = 2 * time.Second
		maxBytes = 8 << 20
	)
	half, ok := c.(interface{ CloseWrite() error }) // over TCP, or TLS
	if !ok || half.CloseWrite() != nil || c.SetReadDeadline(time.Now().Add(maxWait)) != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for total := 0; total < maxBytes; {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		total += n
	}
}

// lazyDeadline is a deadline of a connection that is moved only before a wait, and not for a
// fraction of a second: the server sets three for each request, and nothing ever waits for most of
// them.
type lazyDeadline struct{ wanted, set time.Time }

// due returns the deadline to set, if it has to be: what is set ends at the wanted time or up to
// slack later.
func (m *lazyDeadline) due(slack time.Duration) (at time.Time, due bool) {
	if m.wanted.IsZero() {
		due = !m.set.IsZero()
		m.set = m.wanted
		return m.set, due
	}
	if late := m.set.Sub(m.wanted); late >= 0 && late <= slack {
		return m.set, false
	}
	m.set = m.wanted.Add(slack)
	return m.set, true
}
