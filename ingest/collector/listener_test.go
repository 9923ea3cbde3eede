package collector

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate/certificatetest"
)

// pipeListener accepts one end of each pipe that it is given, also after it is closed: its Accept has the connection by then.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
}

func (l pipeListener) Accept() (net.Conn, error) { return <-l.conns, nil }
func (pipeListener) Close() error                { return nil }

// pipe returns a listener that has no connection yet, and both ends of the one that it can accept.
func pipe(t *testing.T, secure *tls.Config) (l *listener, accept func() net.Conn, client net.Conn) {
	t.Helper()
	inner := pipeListener{conns: make(chan net.Conn, 1)}
	l = newListener(inner, connLimits{total: 10, slack: time.Second, secure: secure})
	client, server := net.Pipe()
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return l, func() net.Conn {
		inner.conns <- server
		c, err := l.Accept()
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute))) // as the server does first
		return c
	}, client
}

func readText(t *testing.T, c net.Conn) string {
	t.Helper()
	b := make([]byte, 100)
	n, err := c.Read(b)
	require.NoError(t, err)
	return string(b[:n])
}

// A request that has come when the server stops is read, although no Read had begun.
func TestStopReadsWhatHasCome(t *testing.T) {
	t.Parallel()
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := newListener(inner, connLimits{total: 10, slack: time.Second})
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", inner.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	c, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = io.WriteString(client, "POST")
	require.NoError(t, err)
	l.closeSilent()
	require.Equal(t, "POST", readText(t, c))
}

// A connection that sends nothing ends soon without an answer: whether it waits when the server stops, is read later, or is accepted later.
func TestStopEndsSilentConnections(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(l *listener, accept func() net.Conn) net.Conn{
		"waits": func(l *listener, accept func() net.Conn) net.Conn {
			c := accept()
			time.AfterFunc(time.Second, l.closeSilent)
			return c
		},
		"is read later": func(l *listener, accept func() net.Conn) net.Conn {
			c := accept()
			l.closeSilent()
			<-time.After(time.Second)
			return c
		},
		"is accepted later": func(l *listener, accept func() net.Conn) net.Conn {
			l.closeSilent()
			return accept()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				l, accept, _ := pipe(t, nil)
				n, err := stop(l, accept).Read(make([]byte, 1))
				require.Equal(t, io.EOF, err)
				require.Zero(t, n)
				require.LessOrEqual(t, time.Since(begin), time.Second+silentTimeout)
			})
		})
	}
}

// A request whose first bytes come after the stop has its whole time for the rest.
func TestStopLeavesTheTimeOfARequest(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"the first Read begins before": true, "the first Read begins after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, accept, client := pipe(t, nil)
				c := accept()
				if early {
					time.AfterFunc(silentTimeout, l.closeSilent)
				} else {
					l.closeSilent()
				}
				for i, part := range []string{"PO", "ST"} {
					time.AfterFunc(time.Duration(i+1)*silentTimeout*3/2, func() { _, _ = io.WriteString(client, part) })
				}
				if !early {
					<-time.After(silentTimeout * 3 / 2) // the first part waits
				}
				require.Equal(t, "PO", readText(t, c))
				require.Equal(t, "ST", readText(t, c))
				require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Second)))
				_, err := c.Read(make([]byte, 1))
				require.ErrorContains(t, err, "timeout")
			})
		})
	}
}

// A client in the middle of its handshake is served.
func TestStopFinishesAHandshake(t *testing.T) {
	t.Parallel()
	a, now := certificatetest.NewAuthority(t), time.Now()
	issued := a.Issue("server")
	cert, err := tls.LoadX509KeyPair(issued.Cert, issued.Key)
	require.NoError(t, err)
	authority, err := os.ReadFile(a.CA)
	require.NoError(t, err)
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(authority))
	synctest.Test(t, func(t *testing.T) {
		l, accept, client := pipe(t, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true})
		c := accept()
		l.closeSilent()
		sent := make(chan error, 1)
		go func() {
			secure := tls.Client(client, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13, Time: func() time.Time { return now }})
			_, err := io.WriteString(secure, "POST")
			sent <- err
		}()
		require.Equal(t, "POST", readText(t, c))
		require.NoError(t, <-sent)
	})
}
