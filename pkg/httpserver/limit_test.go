package httpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/slot"
)

// bound is how long a test waits for what must happen.
const bound = time.Minute

// named is a connection from another address.
type named struct {
	net.Conn
	from string
}

func (n named) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(n.from)) }

// Connections beyond the limit get an answer that says so, and a place is free again when one is
// closed.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(Config{Name: "test", Setting: "--listen", Address: "127.0.0.1:0"}, Deps{Handler: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)})
	s.open = slot.New[netip.Addr](2, 3)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
		defer cancel()
		require.NoError(t, s.Stop(ctx))
	})
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", s.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	first := dial()
	_ = dial()
	answer, err := io.ReadAll(dial())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(answer), "HTTP/1.1 503 Service Unavailable\r\n"), "%s", answer)
	require.Contains(t, string(answer), "\r\nRetry-After: 5\r\n")
	require.Contains(t, string(answer), `"code":"unavailable"`)
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool {
		c := dial()
		defer func() { _ = c.Close() }()
		_, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		if err != nil {
			return false
		}
		answer, err := io.ReadAll(c)
		return err == nil && strings.HasPrefix(string(answer), "HTTP/1.1 404 ")
	}, bound, 10*time.Millisecond)
}

// One address has its share, by network for IPv6, also one of the machine or of a private network;
// only proxies that are trusted have none but that of all.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	s := New(Config{Name: "test", Setting: "--listen", Address: "127.0.0.1:0"}, Deps{Handler: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)})
	s.open = slot.New[netip.Addr](100, 1)
	s.TrustProxies(func(a netip.Addr) bool { return a == netip.MustParseAddr("198.51.100.7") })
	l := listener{nil, s}
	admit := func(from string) (admitted bool, answer string) {
		t.Helper()
		ours, theirs := net.Pipe()
		got := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(theirs)
			got <- string(text)
		}()
		c := l.admit(named{ours, from})
		if c != nil {
			t.Cleanup(func() { _ = c.Close() })
			return true, ""
		}
		return false, <-got
	}
	for _, from := range []string{
		"203.0.113.1:1", "[2001:db8::1]:1", "127.0.0.1:1", "127.0.0.2:1", "10.1.2.3:1", "172.16.0.1:1", "192.168.1.1:1", "169.254.1.1:1", "[fe80::1%eth0]:1", "[fd00::1]:1",
	} {
		ok, _ := admit(from)
		require.True(t, ok, from)
	}
	for _, from := range []string{
		"203.0.113.1:2", "[2001:db8::ffff]:2", "[::ffff:203.0.113.1]:3",
		"127.0.0.1:2", "10.1.2.3:2", "172.16.0.1:2", "192.168.1.1:2", "169.254.1.1:2", "[fe80::2%eth1]:1", "[fd00::2]:1",
	} {
		ok, answer := admit(from)
		require.False(t, ok, from)
		require.True(t, strings.HasPrefix(answer, "HTTP/1.1 429 "), answer)
		require.Contains(t, answer, "\r\nRetry-After: 5\r\n")
	}
	for range 3 {
		ok, _ := admit("198.51.100.7:1")
		require.True(t, ok)
	}
}
