package httpserver_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/certificatetest"
)

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s %q %t", r.Method, r.URL.Path, body, r.TLS != nil)
}

// A request that another server may see the end of elsewhere is refused by each listener of ours,
// as is everything that net/http refuses, with a problem, in its turn, also after good requests on
// the same connection, and however its bytes arrive.
func TestFraming(t *testing.T) {
	t.Parallel()
	const (
		host   = "Host: x\r\n"
		chunks = "3\r\nabc\r\n0\r\n\r\n"
	)
	good := map[string]string{
		"GET /a HTTP/1.1\r\n" + host + "\r\n":                                                                                  `GET /a ""`,
		"POST /b HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\nabc":                                                         `POST /b "abc"`,
		"POST /b HTTP/1.1\r\n" + host + "content-length:3\r\n\r\nabc":                                                          `POST /b "abc"`,
		"POST /c HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunks:                                          `POST /c "abc"`,
		"POST /d HTTP/1.1\r\n" + host + "tRANSFER-encoding:\t Chunked \r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n":               `POST /d "abc"`,
		"POST /e HTTP/1.1\r\n" + host + "Content-Length: 30\r\n\r\nGET / HTTP/1.1\r\n folded: 1\r\n\r\n":                       `POST /e "GET / HTTP/1.1\r\n folded: 1\r\n\r\n"`,
		"POST /f HTTP/1.1\r\n" + host + "X-Content-Length: 1\r\nX: Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n":    `POST /f ""`,
		"POST /g HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1f\r\n" + strings.Repeat("x", 31) + "\r\n0\r\n\r\n": `POST /g "` + strings.Repeat("x", 31) + `"`,
	}
	bad := map[string]int{
		host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks:          400,
		host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" + chunks:          400,
		host + "transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n" + chunks:          400,
		host + "Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc":               400,
		host + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc":                         400,
		host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc":                         400,
		host + "Content-Length: 3, 3\r\n\r\nabc":                                           400,
		host + "Content-Length: +3\r\n\r\nabc":                                             400,
		host + "Content-Length: " + strings.Repeat("0", 200) + "3\r\n\r\nabc":              400,
		host + "Content-Length: 3\r\nTransfer-Encoding : chunked\r\n\r\n" + chunks:         400,
		host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks: 400,
		host + "X: a\r\n b\r\n\r\n":                                                        400,
		host + "X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n":                              400,
		host + "X: a\n \r\n\r\n":                                                           400,
		" X: a\r\n" + host + "\r\n":                                                        400,
		host + "X\r\n\r\n":                                                                 400,
		host + "X: \x00\r\n\r\n":                                                           400,
		"\r\n":                                                                             400, // no host
		host + "Transfer-Encoding: gzip\r\n\r\n":                                           400,
		host + "\n":                                                                        400,
		host + "X: a\nContent-Length: 3\r\n\r\nabc":                                        400,
		host + "Expect: tea\r\nContent-Length: 3\r\n\r\n":                                  417,
		host + "X: " + strings.Repeat("x", 60<<10) + "\r\n\r\n":                            431,
	}
	a := certificatetest.NewAuthority(t)
	issued := a.Issue("server")
	secure := startSecure(t, httpserver.Config{TLS: certificate.Server{Cert: issued.Cert, Key: issued.Key}}, http.HandlerFunc(echo))
	plain := newServer("test", "127.0.0.1:0", http.HandlerFunc(echo))
	require.NoError(t, plain.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, plain.Stop(context.WithoutCancel(t.Context()))) })
	settings := a.Client()
	settings.NextProtos = []string{"http/1.1"}
	for name, dial := range map[string]func() (net.Conn, error){
		"plain": func() (net.Conn, error) { return net.Dial("tcp", plain.Addr().String()) },
		"TLS": func() (net.Conn, error) {
			c := settings.Clone()
			c.ServerName = "127.0.0.1"
			return tls.Dial("tcp", secure.Addr().String(), c)
		},
	} {
		for request, want := range good {
			for _, step := range []int{1, 7, 1 << 20} {
				c, err := dial()
				require.NoError(t, err)
				send(c, request+request+"GET /last HTTP/1.1\r\n"+host+"Connection: close\r\n\r\n", step)
				answers := bufio.NewReader(c)
				for _, want := range []string{want, want, `GET /last ""`} {
					res, err := http.ReadResponse(answers, nil)
					require.NoError(t, err, request)
					text, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					require.NoError(t, res.Body.Close())
					require.Equal(t, 200, res.StatusCode, "%s: %q: %s", name, request, text)
					require.Equal(t, fmt.Sprint(want, " ", name == "TLS"), string(text))
				}
				_ = c.Close()
			}
		}
		for headers, status := range bad {
			for _, step := range []int{1, 1 << 20} {
				if step == 1 && len(headers) > 1<<10 {
					continue
				}
				c, err := dial()
				require.NoError(t, err)
				go send(c, "POST /first HTTP/1.1\r\n"+host+"Content-Length: 2\r\n\r\nok"+"POST /bad HTTP/1.1\r\n"+headers+"GET /next HTTP/1.1\r\n"+host+"\r\n", step)
				answers := bufio.NewReader(c)
				res, err := http.ReadResponse(answers, nil)
				require.NoError(t, err)
				require.Equal(t, 200, res.StatusCode)
				_, err = io.Copy(io.Discard, res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				res, err = http.ReadResponse(answers, nil)
				require.NoError(t, err, "%s in steps of %d: %.100q", name, step, headers)
				var p problem.Problem
				require.NoError(t, json.NewDecoder(res.Body).Decode(&p), headers)
				require.NoError(t, res.Body.Close())
				require.Equal(t, status, res.StatusCode, "%s: %.200q %s", name, headers, p.Detail)
				require.Equal(t, status, p.Status)
				require.Equal(t, problem.ContentType, res.Header.Get("Content-Type"))
				require.NotEmpty(t, res.Header.Get("X-Request-Id"))
				require.NotEmpty(t, p.Detail)
				_, err = answers.ReadByte()
				require.Error(t, err, "the connection is closed: %q", headers)
				_ = c.Close()
			}
		}
	}
	for _, request := range []string{"GET / HTTP/3.0\r\n" + host + "\r\n", "GET / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunks, "x\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n"} {
		c, err := net.Dial("tcp", plain.Addr().String())
		require.NoError(t, err)
		send(c, request, len(request))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, request)
		require.GreaterOrEqual(t, res.StatusCode, 400, request)
		require.Equal(t, problem.ContentType, res.Header.Get("Content-Type"), request)
		require.NoError(t, res.Body.Close())
		_ = c.Close()
	}
}

// What a handler answers is its own, also if it looks like an answer of net/http's.
func TestAnswersOfHandlersStay(t *testing.T) {
	t.Parallel()
	const text = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	s := newServer("test", "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, text)
	}))
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for range 2 {
		status, _, body := get(t, &http.Client{Transport: transport}, "http://"+s.Addr().String())
		require.Equal(t, http.StatusTeapot, status)
		require.Equal(t, text, body)
	}
}

// send writes a text in pieces. The other side may have closed the connection by then.
func send(c net.Conn, text string, step int) {
	for len(text) > 0 {
		n := min(step, len(text))
		if _, err := io.WriteString(c, text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
}
