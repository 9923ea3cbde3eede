package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Transport is an http.RoundTripper that calls a handler of this process instead of a server: a
// page of the site is a client of the site's own API. Answers are streamed. The caller must close
// their bodies, as always.
type Transport struct {
	Handler http.Handler
	// For is the request on whose behalf all others are: the handler sees its client's address.
	// Required.
	For *http.Request
	// Writer is where For is answered. It lets the handler extend the time in which a body has to
	// arrive; nil: it cannot.
	Writer http.ResponseWriter
}

// forwarded are the headers of proxies that tell the client's address.
var forwarded = []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"}

// errCut is the error of reading an answer that the handler broke off.
var errCut = errors.New("the answer was cut off")

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr, in.Host = r.URL.RequestURI(), t.For.RemoteAddr, t.For.Host
	for _, name := range forwarded {
		in.Header[name] = t.For.Header[name]
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	from, to := io.Pipe()
	w := &answer{header: http.Header{}, body: to, written: make(chan struct{}), client: t.Writer}
	go func() {
		defer func() {
			if recover() != nil { // http.ErrAbortHandler: net/http would break the connection
				w.fail()
			}
			w.WriteHeader(http.StatusOK)
			_ = to.Close() // documented never to fail
		}()
		t.Handler.ServeHTTP(w, in)
	}()
	select {
	case <-w.written:
	case <-r.Context().Done():
		_ = from.Close() // documented never to fail
		return nil, fmt.Errorf("wait for the answer: %w", r.Context().Err())
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: from, ContentLength: -1, Request: r,
	}, nil
}

// answer is the http.ResponseWriter of the handler. Only the handler's goroutine uses it, until
// written is closed.
type answer struct {
	header, sent http.Header
	status       int
	body         *io.PipeWriter
	written      chan struct{}
	once         sync.Once
	client       http.ResponseWriter
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status < http.StatusOK { // an interim answer
		return
	}
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.written)
	})
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// fail breaks the answer off, or answers with 500 if it has not begun.
func (a *answer) fail() {
	a.WriteHeader(http.StatusInternalServerError)
	_ = a.body.CloseWithError(errCut) // documented never to fail
}

// Flush implements http.Flusher: everything is passed on at once.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// SetReadDeadline bounds the time in which the body of the request has to arrive, for
// http.ResponseController.
func (a *answer) SetReadDeadline(at time.Time) error {
	return a.extend(func(c *http.ResponseController) error { return c.SetReadDeadline(at) })
}

// SetWriteDeadline bounds the time in which the answer has to be taken, likewise.
func (a *answer) SetWriteDeadline(at time.Time) error {
	return a.extend(func(c *http.ResponseController) error { return c.SetWriteDeadline(at) })
}

func (a *answer) extend(set func(*http.ResponseController) error) error {
	if a.client == nil {
		return http.ErrNotSupported
	}
	return set(http.NewResponseController(a.client))
}
