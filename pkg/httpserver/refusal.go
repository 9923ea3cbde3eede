package httpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// request is a connection of HTTP/1 whose requests are framed beyond doubt. What net/http answers
// by itself, to requests that reach no handler, becomes a problem, as every other refusal is one.
type request struct {
	net.Conn
	log      *slog.Logger
	framing  framing
	end      []byte      // read in place of what the client sends, once a request is refused for its framing
	answered atomic.Bool // the request in flight has reached the handler, which answers it
	refused  atomic.Bool // net/http has refused one, and closes the connection
}

// What a client may still send while it reads why it is refused. A connection that is closed before
// all of it has arrived is reset, and the client may lose the answer.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// Close implements net.Conn.
func (r *request) Close() error {
	if r.refused.Swap(false) {
		_ = r.CloseWrite()                                // the client is not there any more, or sees it below
		_ = r.SetReadDeadline(time.Now().Add(lingerTime)) // as above
		_, _ = io.CopyN(io.Discard, r.Conn, lingerBytes)  // as above
	}
	return r.Conn.Close()
}

// Read implements net.Conn.
func (r *request) Read(b []byte) (int, error) {
	if r.framing.refused != "" {
		return r.readEnd(b)
	}
	n, err := r.Conn.Read(b)
	if good := r.framing.check(b[:n]); good < n {
		r.end = []byte(refusedEnd)
		end, err := r.readEnd(b[good:])
		return good + end, err
	}
	return n, err
}

func (r *request) readEnd(b []byte) (int, error) {
	if len(r.end) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.end)
	r.end = r.end[n:]
	return n, nil
}

// Write implements net.Conn.
func (r *request) Write(b []byte) (int, error) {
	p := r.refusal(b)
	if p == nil {
		return r.Conn.Write(b)
	}
	id := uuid.NewString()
	r.log.Debug("request refused", "status", p.Status, "reason", p.Detail, "request_id", id)
	r.refused.Store(true)
	if err := write(r.Conn, p, id); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite ends the sending half, as net/http does before it closes a connection whose request it
// did not read to the end.
func (r *request) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal returns the problem that stands for an answer of net/http's own, or nil for what a
// handler writes.
func (r *request) refusal(answer []byte) *problem.Problem {
	line, found := bytes.CutPrefix(answer, []byte("HTTP/1.1 "))
	if r.answered.Load() || !found || len(line) < len("400") {
		return nil
	}
	status, _ := strconv.Atoi(string(line[:3])) // what is no number is no refusal
	if status < http.StatusBadRequest {
		return nil
	}
	var p *problem.Problem
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		p = problem.New(problem.PayloadTooLarge, "The path and the headers are too large: at most 32 KiB together.")
	case http.StatusExpectationFailed:
		p = problem.New(problem.InvalidParameter, "The header Expect can be 100-continue only.")
	case http.StatusHTTPVersionNotSupported:
		p = problem.New(problem.InvalidParameter, "This version of HTTP is not supported: use HTTP/1.1, or HTTP/2 over TLS.")
	default:
		p = problem.New(problem.InvalidParameter, "The request is not valid HTTP/1.1.")
		first, _, _ := bytes.Cut(line, []byte("\r\n"))
		if r.framing.refused != "" {
			p.Detail = r.framing.refused
		} else if _, reason, found := strings.Cut(string(first), ": "); found {
			p.Detail = "The request is not valid HTTP/1.1: " + reason + "."
		}
	}
	if p.Status != status {
		p.Status, p.Title = status, http.StatusText(status)
	}
	return p
}

type requestKey struct{}

// remember lets the handler find the connection of its request.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, requestKey{}, c)
}

// reached notes that a request has come to the handler.
func reached(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(interface{ reached(yes bool) }); ok {
		r.reached(true)
	}
}

func (r *request) reached(yes bool) { r.answered.Store(yes) }

// changed learns from net/http what becomes of connections.
func changed(c net.Conn, to http.ConnState) {
	if r, ok := c.(interface{ reached(yes bool) }); ok && to == http.StateIdle {
		r.reached(false)
	}
}

// secureRequest is a request over TLS.
type secureRequest struct {
	*request
	state tls.ConnectionState
}

// ConnectionState tells net/http about the TLS below.
func (s *secureRequest) ConnectionState() tls.ConnectionState { return s.state }

// secureListener makes the handshakes of connections, since only then it is known which of them
// speak HTTP/1.
type secureListener struct {
	listener
	config *tls.Config
	ready  chan accepted
	closed <-chan struct{}
	end    context.CancelFunc // closes closed
	once   sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

func newSecureListener(l listener, config *tls.Config) *secureListener {
	ctx, end := context.WithCancel(context.Background())
	s := &secureListener{listener: l, config: config, ready: make(chan accepted), closed: ctx.Done(), end: end}
	go s.run(ctx)
	return s
}

func (s *secureListener) run(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := s.admitted()
		if err != nil {
			s.offer(accepted{nil, err}) // net/http waits a little before it asks again
			continue
		}
		go s.shake(ctx, c)
	}
}

// shake makes the handshake of a connection and offers it.
func (s *secureListener) shake(ctx context.Context, raw net.Conn) {
	c := tls.Server(raw, s.config)
	ctx, cancel := context.WithTimeout(ctx, readHeaderTimeout)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && looksLikeHTTP(plain.RecordHeader) {
			_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n") // nothing depends on it
		}
		s.log.Debug("no TLS connection", "error", err)
		_ = raw.Close() // as above
		return
	}
	if state := c.ConnectionState(); state.NegotiatedProtocol == "h2" {
		s.offer(accepted{conn: c})
	} else {
		s.offer(accepted{conn: &secureRequest{&request{Conn: c, log: s.log}, state}})
	}
}

// looksLikeHTTP reports whether the first bytes of a connection are those of a request.
func looksLikeHTTP(b [5]byte) bool {
	return slices.Contains([]string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO"}, string(b[:]))
}

// offer gives a connection to Accept, or closes it if there is none any more.
func (s *secureListener) offer(a accepted) {
	select {
	case s.ready <- a:
	case <-s.closed:
		if a.conn != nil {
			_ = a.conn.Close() // no one was served yet
		}
	}
}

// Accept implements net.Listener.
func (s *secureListener) Accept() (net.Conn, error) {
	select {
	case a := <-s.ready:
		return a.conn, a.err
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (s *secureListener) Close() (err error) {
	s.once.Do(func() {
		s.end()
		err = s.listener.Close()
	})
	return err
}
