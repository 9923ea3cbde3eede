package collector

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"lodestone/pkg/descriptor"
)

// listener knows its open connections, for four things that the server does not do: ending those
// on which nothing was ever sent (browsers open some ahead of need) when it stops, rather than waiting
// five seconds for each; ending them without an answer when their time is over, which a browser would take for one to its
// next request; letting a client that is still sending read the answer to its request; and
// answering connections beyond the limits in the form of all other answers (reject).
type listener struct {
	net.Listener
	closeOnce sync.Once
	closed    chan struct{}
	mu        sync.Mutex
	conns     map[*conn]struct{}
	perIP     map[netip.Addr]int // only if there is a limit
	stopping  atomic.Bool        // closeSilent was called
	limits    connLimits
	rejecting
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
		if l.limits.secure != nil {
			c.Conn = tls.Server(inner, l.limits.secure) // the first Read makes the handshake
		}
		if reason, ok := l.add(c); !ok {
			l.reject(inner, reason, l.limits)
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

// silentTimeout is the time that connections on which nothing was received have when the server stops. A request may have come that is not
// read yet: its sender may not repeat it, so such a connection is not closed at once.
const silentTimeout = 250 * time.Millisecond

// closeSilent ends the listening, and soon the connections on which nothing was received. Those whose first Read begins later see stopping.
func (l *listener) closeSilent() {
	_ = l.Close() // nothing can be done about a listener that does not close
	l.stopping.Store(true)
	l.each(func(c *conn) {
		if !c.received.Load() {
			_ = c.Conn.SetReadDeadline(time.Now().Add(silentTimeout)) // a closed connection needs none
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
	reading  lazyDeadline
	writing  lazyDeadline
	addr     netip.Addr  // only if connections are counted by it
	received atomic.Bool // something was received
	linger   atomic.Bool // the client may still be sending
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if at, due := c.reading.due(c.listener.limits.slack); due {
		if err := c.Conn.SetReadDeadline(at); err != nil {
			return 0, err
		}
	}
	silent := !c.received.Load()
	if silent && c.listener.stopping.Load() {
		if err := c.Conn.SetReadDeadline(time.Now().Add(silentTimeout)); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b)
	if silent {
		if n > 0 {
			c.markReceived()
		} else if err != nil {
			answerPlain(err)
			return 0, io.EOF // nothing was asked: the server is to close without an answer, as after an answer's last byte
		}
	}
	return n, err
}

// markReceived ends what closeSilent does to a silent connection: the deadline is again the one that c.reading knows.
func (c *conn) markReceived() {
	c.listener.mu.Lock() // closeSilent either sees received, or has set its deadline
	defer c.listener.mu.Unlock()
	c.received.Store(true)
	if c.listener.stopping.Load() {
		_ = c.Conn.SetReadDeadline(c.reading.set) // on a closed connection, the next Read fails as well
	}
}

// answerPlain answers a client that speaks HTTP without TLS where TLS is served, as net/http does.
func answerPlain(err error) {
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && plain.RecordHeader[0] >= 'A' && plain.RecordHeader[0] <= 'Z' {
		_, _ = plain.Conn.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")) // a client that left needs none
	}
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
		drain(c.Conn, 2*time.Second)
	}
	return c.Conn.Close()
}

// drain signals the client that no more data comes, and reads what it still sends.
func drain(c net.Conn, maxWait time.Duration) {
	const maxBytes = 8 << 20
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

// lazyDeadline is a deadline of a connection that is moved only when something is about to wait for it, and not for the sake
// of a fraction of a second: the server sets three for each request, most of which nothing ever waits for.
type lazyDeadline struct{ wanted, set time.Time }

// due returns the deadline to set, if it has to be: what is set ends at the wanted time or up to slack later.
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

// connLimits bounds the open connections.
type connLimits struct {
	total     int
	perIP     int           // 0: no limit
	slack     time.Duration // by how much a timeout of a connection may be longer
	secure    *tls.Config   // nil: plain HTTP
	refused   func(refusalReason)
	exhausted func(error) // called when no connection can be accepted, since no file descriptor is free
}

// maxRejecting bounds the connections that are being answered why they are not served; more are closed
// without an answer.
const maxRejecting = 256

// rejecting is the connections that are being refused. They count in no limit.
type rejecting struct {
	rejectMu sync.Mutex
	open     map[net.Conn]struct{}
	wait     sync.WaitGroup
}

// reject answers a connection in place of a request, and closes it.
func (t *rejecting) reject(c net.Conn, reason refusalReason, limits connLimits) {
	limits.refused(reason)
	if limits.secure != nil { // a handshake would have to come first
		_ = c.Close() // nothing depends on it
		return
	}
	t.rejectMu.Lock()
	full := len(t.open) >= maxRejecting
	if !full {
		if t.open == nil {
			t.open = make(map[net.Conn]struct{})
		}
		t.open[c] = struct{}{}
	}
	t.rejectMu.Unlock()
	if full {
		_ = c.Close() // nothing depends on it
		return
	}
	t.wait.Go(func() {
		defer func() {
			t.rejectMu.Lock()
			delete(t.open, c)
			t.rejectMu.Unlock()
			_ = c.Close()
		}()
		const timeout = time.Second
		if c.SetWriteDeadline(time.Now().Add(timeout)) != nil {
			return
		}
		if _, err := c.Write(rejectionOf(reason)); err != nil {
			return
		}
		drain(c, timeout)
	})
}

// closeRejected ends those that are still being answered, and waits for them.
func (t *rejecting) closeRejected() {
	t.rejectMu.Lock()
	for c := range t.open {
		_ = c.Close()
	}
	t.rejectMu.Unlock()
	t.wait.Wait()
}

// rejectionOf returns a complete answer.
func rejectionOf(reason refusalReason) []byte {
	p := &requestProblem{fasthttp.StatusServiceUnavailable, codeUnavailable, "There are too many connections at the moment (--collector-max-connections). Nothing was accepted: send all of it again."}
	if reason == refusedAddressConnections {
		p = &requestProblem{fasthttp.StatusTooManyRequests, codeRateLimited, "There are too many connections from this address (--collector-max-connections-per-ip). Nothing was accepted: send all of it again."}
	}
	body := appendProblem(nil, p, nil, false)
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n"+
		"Retry-After: %s\r\n%s: %s\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: %s\r\n\r\n",
		p.status, http.StatusText(p.status), time.Now().UTC().Format(http.TimeFormat), len(body), retryAfter, headerRequestID, requestID(new([requestIDBytes]byte), nil), exposedHeaders)
	return append([]byte(head), body...)
}
