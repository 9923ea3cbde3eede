package collector_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/bot"
)

func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for value, status := range map[string]int{
		"application/json":                   202,
		"application/json; charset=utf-8":    202,
		"Application/JSON;Charset=\"UTF-8\"": 202,
		"text/plain":                         202,
		"text/plain;charset=UTF-8":           202, // what sendBeacon sends for a string
		"text/plain; charset=us-ascii":       202,
		"text/plain; format=flowed":          202,
		"text/plain; charset=iso-8859-1":     415,
		"application/json; charset=utf-16":   415,
		"application/x-www-form-urlencoded":  415,
		"multipart/form-data; boundary=x":    415,
		"application/jsonp":                  415,
		"application/problem+json":           415,
		"text/html":                          415,
		"":                                   415,
	} {
		a := s.post(t, s.event(), "Content-Type", value)
		require.Equal(t, status, a.status, value)
		if status == 415 {
			require.Equal(t, "unsupported_media_type", a.Code)
		}
	}
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	good := zipped(t, s.event())
	for name, c := range map[string]struct {
		body, encoding string
		status         int
		code           string
	}{
		"one event":        {good, "gzip", 202, ""},
		"old name":         {good, "X-GZIP", 202, ""},
		"identity":         {s.event(), "identity", 202, ""},
		"two members":      {zipped(t, s.event()[:20]) + zipped(t, s.event()[20:20]), "gzip", 400, "invalid_json"},
		"many events":      {zipped(t, "["+s.event()+strings.Repeat(","+s.event(), 499)+"]"), "gzip", 202, ""},
		"not gzip":         {s.event(), "gzip", 400, "invalid_json"},
		"cut off":          {good[:len(good)-9], "gzip", 400, "invalid_json"},
		"checksum altered": {good[:len(good)-8] + "xxxx" + good[len(good)-4:], "gzip", 400, "invalid_json"},
		"rubbish after":    {good + "rubbish", "gzip", 400, "invalid_json"},
		"empty":            {"", "gzip", 400, "invalid_json"},
		"of nothing":       {zipped(t, ""), "gzip", 400, "invalid_json"},
		"bomb":             {zipped(t, strings.Repeat(" ", 16<<20)), "gzip", 413, "payload_too_large"},
		"a byte over": {zipped(t, strings.Repeat(" ", collector.MaxBodyBytes+1-len(s.event()))+s.event()),
			"gzip", 413, "payload_too_large"},
		"just at the limit": {zipped(t, strings.Repeat(" ", collector.MaxBodyBytes-len(s.event()))+s.event()), "gzip", 202,
			""},
		"another encoding":    {good, "br", 415, "unsupported_media_type"},
		"gzip twice":          {zipped(t, good), "gzip, gzip", 415, "unsupported_media_type"},
		"gzip without header": {good, "", 400, "invalid_json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.post(t, c.body, "Content-Encoding", c.encoding)
			require.Equal(t, c.status, a.status, a.body)
			require.Equal(t, c.code, a.Code)
		})
	}
}

func TestOtherMethodsAndPaths(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
		request, err := http.NewRequest(method, s.url+"/v1/events", nil)
		require.NoError(t, err)
		response, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, 405, response.StatusCode, method)
		require.Equal(t, "POST, OPTIONS", response.Header.Get("Allow"))
		require.Equal(t, method != "HEAD", strings.Contains(string(text), `"code":"method_not_allowed"`), method)
		require.Empty(t, response.Header.Get("Server"))
	}
	for _, path := range []string{"/", "/v1", "/v1/event", "/v1/events/", "/V1/events", "/v1/events/1", "/healthz", "/%00",
		"//v1/events", "/v1//events", "/v1/./events", "/x/../v1/events", "/v1/event%73"} {
		a := s.do(t, http.MethodPost, path, strings.NewReader(s.event()))
		require.Equal(t, 404, a.status, path)
		require.Equal(t, "not_found", a.Code)
		require.NotEmpty(t, a.header.Get("X-Request-Id"))
	}
	require.Equal(t, 202, s.do(t, http.MethodPost, "/v1/events?x=1", strings.NewReader(s.event())).status)
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.do(t, http.MethodOptions, "/v1/events", nil,
		"Origin", "https://example.org", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers",
		"content-encoding,content-type")
	require.Equal(t, 204, a.status)
	require.Empty(t, a.body)
	require.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "POST, OPTIONS", a.header.Get("Access-Control-Allow-Methods"))
	require.Equal(t, "content-type, content-encoding, x-request-id", a.header.Get("Access-Control-Allow-Headers"))
	require.Equal(t, "86400", a.header.Get("Access-Control-Max-Age"))
	require.Empty(t, a.header.Get("Access-Control-Allow-Credentials"))
	for _, a := range []answer{s.post(t, s.event()), s.post(t, "x")} {
		require.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "X-Request-Id, Retry-After", a.header.Get("Access-Control-Expose-Headers"))
		require.Empty(t, a.header.Get("Access-Control-Allow-Credentials"))
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, "abc-1.2_3", s.post(t, s.event(), "X-Request-Id", "abc-1.2_3").header.Get("X-Request-Id"))
	for _, odd := range []string{"a b", "<script>", "ü", strings.Repeat("a", 129)} {
		require.Regexp(t, "^[0-9a-f]{32}$", s.post(t, s.event(), "X-Request-Id", odd).header.Get("X-Request-Id"))
	}
}

// A request that is refused can be found in the log by its id, with nothing that the sender sent.
func TestRefusedRequestsAreLogged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, 422, s.post(t, s.event("token", `"secret-token"`), "X-Request-Id", "hello-123").status)
	require.Equal(t, 404, s.do(t, http.MethodGet, "/secret/path", http.NoBody, "X-Request-Id", "hello-124").status)
	require.Equal(t, 202, s.post(t, s.event(), "X-Request-Id", "hello-125").status)
	log := s.log.String()
	require.Contains(t, log,
		`level=INFO msg="request refused" request_id=hello-123 path=/v1/events status=422 code=validation_error`)
	require.Contains(t, log, "request_id=hello-124 path=unmatched status=404 code=not_found")
	require.NotContains(t, log, "hello-125")
	require.NotContains(t, log, "secret")
}

// A flood of refusals does not fill the disk.
func TestRefusalsAreLoggedWithinABudget(t *testing.T) {
	t.Parallel()
	require.Equal(t, 20, collector.LoggedRefusals(1000, now))
	require.Equal(t, 40, collector.LoggedRefusals(1000, now, now.Add(time.Second)))
}

func TestWarningsCarryTheRequestID(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Sink = failing{} })
	require.Equal(t, 503, s.post(t, s.event(), "X-Request-Id", "hello-126").status)
	require.Contains(t, s.log.String(), `msg="events not accepted" request_id=hello-126`)
}

// dial opens a connection and sends raw bytes on it.
func (s *stack) dial(t testing.TB, raw string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(waitLimit)))
	_, err = io.WriteString(c, raw)
	require.NoError(t, err)
	return c, bufio.NewReader(c)
}

func status(t testing.TB, r *bufio.Reader) int {
	t.Helper()
	response, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NotEmpty(t, response.Header.Get("X-Request-Id"))
	return response.StatusCode
}

func raw(method, path, headers, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n%s", method, path, headers, body)
}

func sized(method, path, headers, body string) string {
	return raw(method, path, fmt.Sprintf("%sContent-Length: %d\r\n", headers, len(body)), body)
}

// One connection, many requests, most of them wrong: every answer belongs to its request.
func TestPipelinedRequestsStayInStep(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	const json = "Content-Type: application/json\r\n"
	good := sized("POST", "/v1/events", json, s.event())
	hidden := sized("POST", "/v1/events", json, s.event()) // a request within a body
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	requests := []struct {
		raw    string
		status int
	}{
		{good, 202},
		{sized("POST", "/v1/events", json, "{"), 400},
		{sized("POST", "/v1/events", "Content-Type: text/html\r\n", hidden), 415},
		{good, 202},
		{sized("GET", "/v1/events", json, hidden), 405},
		{sized("POST", "/elsewhere", json, hidden), 404},
		{sized("OPTIONS", "/v1/events", json, hidden), 204},
		{raw("POST", "/v1/events", json+"Transfer-Encoding: chunked\r\n",
			chunk(s.event()[:7])+chunk(s.event()[7:])+"0\r\n\r\n"), 202},
		{sized("POST", "/v1/events", json+"Content-Encoding: gzip\r\n", hidden), 400},
		{sized("POST", "/v1/events", json, "[]"), 422},
		{sized("POST", "/v1/events", json, ""), 400},
		{good, 202},
	}
	var all strings.Builder
	for _, r := range requests {
		all.WriteString(r.raw)
	}
	_, reader := s.dial(t, all.String())
	for i, r := range requests {
		require.Equal(t, r.status, status(t, reader), "request %d", i)
	}
	s.records(t, 4)
}

// What two servers in a row could read differently ends the connection.
func TestAmbiguousRequestsEndTheConnection(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	good := sized("POST", "/v1/events", "Content-Type: application/json\r\n", s.event())
	const json = "Content-Type: application/json\r\n"
	for name, first := range map[string]string{
		"two lengths":       raw("POST", "/v1/events", json+"Content-Length: 1\r\nContent-Length: 2\r\n", "1"),
		"two equal lengths": raw("POST", "/v1/events", json+"Content-Length: 1\r\nContent-Length: 1\r\n", "1"),
		"chunks and length": raw("POST", "/v1/events", json+"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
			"0\r\n\r\n"),
		"a bare line in a chunk": raw("POST", "/v1/events", json+"Transfer-Encoding: chunked\r\n",
			"5;\nx\r\nhello\r\n0\r\n\r\n"),
		"negative length": raw("POST", "/v1/events", json+"Content-Length: -1\r\n", ""),
		"signed length":   raw("POST", "/v1/events", json+"Content-Length: +1\r\n", "1"),
		"length and chunks": raw("POST", "/v1/events", json+"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
			"0\r\n\r\n"),
		"unknown transfer":       raw("POST", "/v1/events", json+"Transfer-Encoding: xchunked\r\n", ""),
		"broken chunks":          raw("POST", "/v1/events", json+"Transfer-Encoding: chunked\r\n", "zz\r\n"),
		"space before the colon": raw("POST", "/v1/events", json+"Content-Length : 1\r\n", "1"),
		"no HTTP":                "hello\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, reader := s.dial(t, first+good)
			require.Equal(t, 400, status(t, reader))
			_, err := reader.ReadByte()
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestLargeHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, 202, s.post(t, s.event(), "X-Filler", strings.Repeat("x", 15<<10)).status)
	a := s.post(t, s.event(), "X-Filler", strings.Repeat("x", 64<<10))
	require.Equal(t, 431, a.status)
	require.Equal(t, "payload_too_large", a.Code)
	require.NotEmpty(t, a.header.Get("X-Request-Id"))
}

func TestLargeChunkedBody(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.post(t, "", "X", "y") // the client sends chunks when it does not know the length
	require.Equal(t, 400, a.status)
	a = s.do(t, http.MethodPost, "/v1/events", io.LimitReader(spaces{}, 4<<20))
	require.Equal(t, 413, a.status)
	require.Equal(t, "payload_too_large", a.Code)
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSlowClient(t *testing.T) {
	t.Parallel()
	// for the headers, on a busy machine
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.ReadTimeout = 10 * time.Second })
	_, reader := s.dial(t,
		"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.Equal(t, 408, status(t, reader))
}

// What comes on a connection before anything was asked would be taken for the answer to the next
// request.
func TestAConnectionOnWhichNothingWasSentIsClosedSilently(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.ReadTimeout = 200 * time.Millisecond })
	c, _ := s.dial(t, "")
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Empty(t, answer)
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	c, reader := s.dial(t,
		raw("POST", "/v1/events",
			fmt.Sprintf("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n", len(s.event())), ""))
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue")
	_, err = reader.ReadString('\n')
	require.NoError(t, err)
	_, err = io.WriteString(c, s.event())
	require.NoError(t, err)
	require.Equal(t, 202, status(t, reader))
}

type panicking struct{}

func (panicking) Classify(bot.Request) string { panic("secret of a visitor") }

func TestPanicIsAnsweredAndLoggedWithoutPersonalData(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, d *collector.Deps) {
		d.Bots = panicking{}
		c.TrustedProxies = []string{"127.0.0.0/8"}
	})
	a := s.post(t, s.event(), "X-Forwarded-For", "203.0.113.77", "User-Agent", "Netscape Navigator",
		"X-Request-Id", "request-1")
	require.Equal(t, 500, a.status)
	require.Equal(t, "internal", a.Code)
	require.Equal(t, "request-1", a.header.Get("X-Request-Id"))
	log := s.log.String()
	require.Contains(t, log, "request-1")
	require.Contains(t, log, "Classify") // the stack
	for _, personal := range []string{"secret of a visitor", "203.0.113.77", "Netscape", s.token} {
		require.NotContains(t, log, personal)
		require.NotContains(t, a.body, personal)
	}
	require.Equal(t, 404, s.do(t, http.MethodGet, "/", nil).status)
}
