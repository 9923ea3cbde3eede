package test

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy listens on a free port of this machine, ends TLS with a certificate, and passes on what it
// reads to an address. Connections that pass nothing on do not disturb it.
func Proxy(t testing.TB, to string, c CertificateFiles) (address string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	require.NoError(t, err)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12,
		Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	var running sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]struct{}{}
	hold := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		open[c] = struct{}{}
	}
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			hold(in)
			running.Go(func() {
				defer func() { _ = in.Close() }()
				if in.(*tls.Conn).Handshake() != nil { //nolint:noctx // of a listener of TLS; closing it ends it
					return
				}
				out, err := net.Dial("tcp", to) //nolint:noctx // of this machine
				if err != nil {
					return
				}
				hold(out)
				defer func() { _ = out.Close() }()
				running.Go(func() {
					_, _ = io.Copy(out, in)
					_ = out.Close()
				})
				_, _ = io.Copy(in, out)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return l.Addr().String()
}
