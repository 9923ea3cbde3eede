package httpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/httpserver"
	"lodestone/pkg/problem"
)

// What is no request is answered as everything else: by a problem with a request id.
func TestWhatIsNoRequestGetsAProblem(t *testing.T) {
	t.Parallel()
	s := httpserver.New("test", "--listen", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The same status from a handler is left alone, and so is a body that looks like an answer.
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "HTTP/1.1 400 x\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"+r.Method)
	}), quiet())
	require.NoError(t, s.Start(t.Context()))
	defer func() { require.NoError(t, s.Stop(context.Background())) }()
	send := func(text string) (status int, header http.Header, body string) {
		conn, err := net.Dial("tcp", s.Addr().String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text) // a server that has seen enough may not read it all
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, "%.80q", text)
		read, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode, res.Header, string(read)
	}
	ids := map[string]bool{}
	for text, wanted := range map[string]int{
		"GET / HTTP/1.1\r\n\r\n":                                                      400, // no Host
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                                400,
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n":                                         400,
		"GET / HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n":                            400,
		"GET / HTTP/1.1\r\nHost: x\r\nA: b\x01c\r\n\r\n":                              400,
		"nonsense\r\n\r\n":                                                            400,
		"GET / HTTP/3.7\r\nHost: x\r\n\r\n":                                           505,
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n":                    400,
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n":               501,
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n": 431,
		"GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n":        431,
		"GET / HTTP/1.1\r\nHost: x\r\nExpect: the unexpected\r\n\r\n":                 417,
	} {
		status, header, body := send(text)
		require.Equal(t, wanted, status, "%.80q", text)
		require.Equal(t, problem.ContentType, header.Get("Content-Type"), "%.80q", text)
		id := header.Get("X-Request-Id")
		require.Len(t, id, 36)
		require.NotContains(t, ids, id)
		ids[id] = true
		var p problem.Problem
		require.NoError(t, json.Unmarshal([]byte(body), &p), "%.80q: %s", text, body)
		require.Equal(t, wanted, p.Status)
		require.NotEmpty(t, p.Detail)
	}
	for _, request := range []string{"GET / HTTP/1.1", "OPTIONS * HTTP/1.1"} {
		status, _, body := send(request + "\r\nHost: x\r\n\r\n")
		require.Equal(t, 400, status, "the handler's own")
		require.True(t, strings.HasPrefix(body, "HTTP/1.1 400 x\r\n"), body)
	}
}
