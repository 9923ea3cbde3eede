package collector_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/bot"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// The collector refuses with 400 what two servers can read differently, and ends the connection.
// What has one meaning is answered, and so is the request after it.
func TestAmbiguousFramingIsRefused(t *testing.T) {
	t.Parallel()
	ring, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	bots, err := bot.NewCrawlers()
	require.NoError(t, err)
	events, err := collector.New(collectorConfig(), collector.Deps{
		Tokens: ring, Sink: failing{}, Addresses: noHasher{}, Bots: bots, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	enginetest.Run(t, events)
	const (
		line    = "POST /v1/events HTTP/1.1\r\n"
		h       = line + "Host: x\r\nContent-Type: text/plain\r\n"
		chunked = h + "Transfer-Encoding: chunked\r\n\r\n"
		length  = "Content-Length: 3\r\n\r\n[] "
		chunks  = "3\r\n[] \r\n0\r\n\r\n"
	)
	good := []string{
		h + "Content-Length: 3\r\n\r\n[] ",
		h + "Content-Length: 03\r\n\r\n[] ",
		h + "Content_Length: 5\r\n" + length,
		h + "X: \xff\r\n" + length,
		h + "X:\r\n" + length,
		h + "Connection: Content-Length\r\n" + length,
		h + "tRANSFER-encoding: \tChunked \r\n\r\n" + chunks,
		chunked + chunks,
		chunked + "3;x=y\r\n[] \r\n0;z\r\n\r\n",
		chunked + "03 \r\n[] \r\n0\r\nX: y\r\n\r\n",
		"POST /v1/events HTTP/1.0\r\nHost: x\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n" + length,
	}
	bad := []string{
		h + "X: a\r\n b\r\n" + length,
		h + "X: a\r\n\tb\r\n" + length,
		h + "X: a\r\n \r\n" + length,
		h + "X: a\n b\r\n" + length,
		h + "Content-Length:\r\n 3\r\n\r\n[] ",
		h + "Content-Length: 3\r\n \r\n\r\n[] ",
		h + "Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks,
		line + " Host: x\r\nContent-Type: text/plain\r\n" + length,
		h + "Content-Length : 3\r\n\r\n[] ",
		h + "Content-Length\t: 3\r\n\r\n[] ",
		h + "Transfer-Encoding : chunked\r\n\r\n" + chunks,
		h + "X : y\r\n" + length,
		h + "X Y: z\r\n" + length,
		h + "X: a\n" + length,
		h + "X: a\nContent-Length: 3\n\n[] ",
		h + "X: a\rContent-Length: 5\r\n" + length,
		h + "X: a\r\rb\r\n" + length,
		h + "X\rY: a\r\n" + length,
		h + "X: a\x00b\r\n" + length,
		h + "X\x00: b\r\n" + length,
		h + "X: a\x01\r\n" + length,
		h + "X: a\x7f\r\n" + length,
		h + "\xff: x\r\n" + length,
		h + ": x\r\n" + length,
		h + "X\r\n" + length,
		h + "Content-Length: 3\r\n" + length,
		h + "content-length: 4\r\n" + length,
		h + "Content-Length: 3, 3\r\n\r\n[] ",
		h + "Content-Length: +3\r\n\r\n[] ",
		h + "Content-Length: -3\r\n\r\n[] ",
		h + "Content-Length: 0x3\r\n\r\n[] ",
		h + "Content-Length: 3 3\r\n\r\n[] ",
		h + "Content-Length: 3.0\r\n\r\n[] ",
		h + "Content-Length: 3\v\r\n\r\n[] ",
		h + "Content-Length: \r\n\r\n",
		h + "Content-Length: 18446744073709551619\r\n\r\n[] ",
		h + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" + chunks,
		h + "Transfer-Encoding: identity\r\n" + length,
		h + "Transfer-Encoding: identity\r\n\r\n[] ",
		h + "Transfer-Encoding: gzip\r\n\r\n" + chunks,
		h + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunks,
		h + "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: \vchunked\r\n\r\n" + chunks,
		h + "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunks,
		h + "Transfer-Encoding: chunked;q=1\r\n\r\n" + chunks,
		h + "Transfer-Encoding:\r\n\r\n" + chunks,
		"POST /v1/events HTTP/1.0\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		chunked + "3;\nx\r\n[] \r\n0\r\n\r\n",
		chunked + "3\n[] \r\n0\r\n\r\n",
		chunked + "3\r\n[] \n0\r\n\r\n",
		chunked + "3\r\n[] X\r\n0\r\n\r\n",
		chunked + "+3\r\n[] \r\n0\r\n\r\n",
		chunked + "0x3\r\n[] \r\n0\r\n\r\n",
		chunked + " 3\r\n[] \r\n0\r\n\r\n",
		chunked + "3\r[] \r\n0\r\n\r\n",
		chunked + "10000000000000003\r\n[] \r\n0\r\n\r\n",
		chunked + "3\r\n[] \r\n0\r\nX y\r\n\r\n",
		line + length,
		line + "Host: x\r\nContent-Type: text/plain\r\nHost: y\r\n" + length,
		"POST  /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n" + length,
		"POST /v1/events HTTP/1.1 \r\nHost: x\r\nContent-Type: text/plain\r\n" + length,
		"POST /v1/events HTTP/1.1\r\n X: y\r\nHost: x\r\nContent-Type: text/plain\r\n" + length,
		"POST /v1/events\r\n\r\n",
	}
	for _, request := range good {
		require.Equal(t, []int{422, 404}, statuses(t, events.Addr(), request), "%q", request)
	}
	for _, request := range bad {
		require.Equal(t, []int{400}, statuses(t, events.Addr(), request), "%q", request)
	}
}

// statuses sends a request and another one, and returns how they are answered.
func statuses(t *testing.T, addr net.Addr, request string) (all []int) {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, request+"GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	answers := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the connection is closed after %v: %q", all, request)
			return all
		}
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		all = append(all, res.StatusCode)
	}
}
