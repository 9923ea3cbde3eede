package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// What net/http cannot read as a request it answers by itself, in plain text and before any handler: a
// header that is too large, a missing Host, what is no HTTP. The connection puts a problem with a
// request id in its place, as every other answer has it.

// refusal is how each of these answers goes on after its first line. An answer of a handler always has
// more, such as its date.
const refusal = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// expectation begins the answer to an Expect that nobody knows, which comes from before the handlers, too.
const expectation = "HTTP/1.1 417 Expectation Failed\r\n"

type listener struct {
	net.Listener
	*Server
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // net/http looks at the error of a listener
		}
		if admitted := l.admit(c); admitted != nil {
			return admitted, nil
		}
	}
}

// Addr implements net.Listener.
func (l listener) Addr() net.Addr { return l.Listener.Addr() }

type conn struct {
	net.Conn
	log     *slog.Logger
	release func() // gives back its place
}

// CloseWrite ends the sending half, as net/http does when the client is to read the last answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // a connection's error is passed on as it is
	}
	return nil
}

// Write sends b, or what stands for it. net/http hands over each of its own answers in one piece.
func (c *conn) Write(b []byte) (int, error) {
	status, ours := refused(b)
	if !ours {
		return c.Conn.Write(b) //nolint:wrapcheck // as above
	}
	id := uuid.NewString()
	c.log.Info("request could not be read", "request_id", id, "status", status)
	answer, err := explain(status, id)
	if err != nil {
		return c.Conn.Write(b) //nolint:wrapcheck // as above
	}
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err //nolint:wrapcheck // as above
	}
	return len(b), nil
}

// refused returns the status of an answer of net/http's own.
func refused(b []byte) (status int, ours bool) {
	if bytes.HasPrefix(b, []byte(expectation)) {
		return http.StatusExpectationFailed, true
	}
	rest, isAnswer := bytes.CutPrefix(b, []byte("HTTP/1.1 "))
	if !isAnswer {
		return 0, false
	}
	end := bytes.Index(rest, []byte("\r\n"))
	if end < len("400") || !bytes.HasPrefix(rest[end:], []byte(refusal)) {
		return 0, false
	}
	status, err := strconv.Atoi(string(rest[:len("400")]))
	return status, err == nil && status >= http.StatusBadRequest
}

// explain returns the whole answer to a request that could not be read.
func explain(status int, requestID string) ([]byte, error) {
	p := problem.New(problem.InvalidParameter, "The request is not valid HTTP/1.1: check its first line, its headers and that it has one Host.")
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		p = problem.New(problem.PayloadTooLarge, fmt.Sprintf("The request line and headers may have at most %d bytes together.", maxHeaderBytes))
	case http.StatusNotImplemented:
		p.Detail = "Send the body with a Content-Length, or with Transfer-Encoding: chunked."
	case http.StatusHTTPVersionNotSupported:
		p.Detail = "Send the request in HTTP/1.1."
	case http.StatusExpectationFailed:
		p.Detail = "Of Expect, only 100-continue is known."
	}
	p.Title, p.Status = http.StatusText(status), status
	return write(p, requestID)
}

// write returns a whole answer with a problem.
func write(p *problem.Problem, requestID string) ([]byte, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("write problem: %w", err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
		p.Status, http.StatusText(p.Status), problem.ContentType, len(body))
	if again := p.Header().Get("Retry-After"); again != "" {
		fmt.Fprintf(&out, "Retry-After: %s\r\n", again)
	}
	fmt.Fprintf(&out, "X-Request-Id: %s\r\nConnection: close\r\n\r\n%s", requestID, body)
	return []byte(out.String()), nil
}
