package dialguard_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/dialguard"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

func TestCheck(t *testing.T) {
	t.Parallel()
	g := dialguard.New()
	for _, public := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.255.255",
		"172.32.0.1", "223.255.255.255",
		"2606:4700:4700::1111", "2a00:1450:4001:80b::200e", "::ffff:1.1.1.1",
		"64:ff9b::101:101", // 1.1.1.1 by NAT64
	} {
		require.NoError(t, g.Check(netip.MustParseAddr(public)), public)
	}
	for name, inward := range map[string][]string{
		"unspecified":  {"0.0.0.0", "0.1.2.3", "::"},
		"loopback":     {"127.0.0.1", "127.255.255.254", "::1"},
		"private":      {"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"},
		"link-local":   {"169.254.0.1", "fe80::1", "fe80::1%eth0", "febf::1"},
		"site-local":   {"fec0::1"},
		"carrier NAT":  {"100.64.0.1", "100.127.255.255"},
		"unique local": {"fc00::1", "fd12:3456::1"},
		"multicast":    {"224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"},
		"broadcast":    {"255.255.255.255", "240.0.0.1"},
		"reserved": {"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
			"203.0.113.1", "2001:db8::1", "3fff::1"},
		"metadata": {"169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200",
			"192.0.0.192", "168.63.129.16"},
		"mapped": {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
			"::ffff:7f00:1", "::ffff:168.63.129.16"},
		"compatible": {"::127.0.0.1", "::a9fe:a9fe"},
		"translated": {"::ffff:0:127.0.0.1"},
		"NAT64": {"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::6440:1",
			"64:ff9b::c0a8:1", "64:ff9b::0:0"},
		"local NAT64":       {"64:ff9b:1::7f00:1", "64:ff9b:1:ffff::1"},
		"6to4":              {"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:101:101::1", "192.88.99.1"},
		"Teredo and ORCHID": {"2001::1", "2001:0:7f00:1::", "2001:20::1"},
		"discard":           {"100::1"},
		"segment routing":   {"5f00::1"},
	} {
		for _, address := range inward {
			require.True(t, dialguard.IsRefused(g.Check(netip.MustParseAddr(address))), "%s: %s", name, address)
		}
	}
	require.True(t, dialguard.IsRefused(g.Check(netip.Addr{})))
}

func TestAllowedNetworks(t *testing.T) {
	t.Parallel()
	networks, err := clientaddr.Networks("", []string{"127.0.0.0/8", "::1", " 10.1.2.3/16"})
	require.NoError(t, err)
	g := dialguard.New(networks...)
	for _, address := range []string{"127.0.0.1", "::ffff:127.0.0.1", "::1", "10.1.255.255", "64:ff9b::a01:1", "1.1.1.1"} {
		require.NoError(t, g.Check(netip.MustParseAddr(address)), address)
	}
	for _, address := range []string{"10.2.0.1", "::2", "192.168.0.1", "169.254.169.254"} {
		require.Error(t, g.Check(netip.MustParseAddr(address)), address)
	}
}

// server counts the requests that arrive at an address of the loopback network, on a port that they
// share, and redirects to where location says.
func server(t *testing.T, address string, location func() string) (hits *atomic.Int64, port string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	hits = &atomic.Int64{}
	s := &httptest.Server{Listener: listener,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			if location != nil {
				http.Redirect(w, r, location(), http.StatusTemporaryRedirect)
			}
		})}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return hits, port
}

func client(t *testing.T, resolver *net.Resolver, allowed ...string) *http.Client {
	t.Helper()
	networks, err := clientaddr.Networks("", allowed)
	require.NoError(t, err)
	transport := dialguard.NewTransport(dialguard.New(networks...), resolver)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, url string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	answer, err := c.Do(req)
	if err == nil {
		require.NoError(t, answer.Body.Close())
	}
	return err
}

func TestNothingInwardIsDialled(t *testing.T) {
	t.Parallel()
	hits, port := server(t, "127.0.0.1:0", nil)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
		"2130706433", "0x7f.1", "127.1"} {
		for _, scheme := range []string{"http", "https"} {
			err := get(t, client(t, nil), scheme+"://"+host+":"+port+"/")
			require.Error(t, err, host) // forms that only a browser understands do not resolve
		}
	}
	require.True(t, dialguard.IsRefused(get(t, client(t, nil), "https://127.0.0.1:"+port+"/")))
	require.True(t, dialguard.IsRefused(get(t, client(t, nil), "http://localhost:"+port+"/")))
	require.Zero(t, hits.Load())
	require.NoError(t, get(t, client(t, nil, "127.0.0.1"), "http://127.0.0.1:"+port+"/"))
	require.EqualValues(t, 1, hits.Load())
}

// Plain http goes to the networks that were given, and nowhere else, public or not.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	resolver := names(t, func() string { return "1.1.1.1" })
	require.True(t, dialguard.IsRefused(get(t, client(t, resolver, "127.0.0.1"), "http://example.test/")))
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	hits, port := server(t, "127.0.0.1:0", nil)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+port)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:"+port)
	require.Error(t, get(t, client(t, names(t, func() string { return "10.0.0.1" })), "http://example.test/"))
	require.Zero(t, hits.Load())
}

// A redirect is dialled under the same guard.
func TestRedirectInwards(t *testing.T) {
	t.Parallel()
	inside, port := server(t, "127.0.0.1:0", nil)
	outside, outsidePort := server(t, "127.0.0.2:0", func() string { return "http://127.0.0.1:" + port + "/" })
	err := get(t, client(t, nil, "127.0.0.2"), "http://127.0.0.2:"+outsidePort+"/")
	require.True(t, dialguard.IsRefused(err), err)
	require.EqualValues(t, 1, outside.Load())
	require.Zero(t, inside.Load())
}

// A name that is harmless when it is looked at, and points inwards when it is dialled, does not get
// through: the address that is dialled is the one that is judged.
func TestRebinding(t *testing.T) {
	t.Parallel()
	// One port on two addresses: of those that the system gives to whoever asks for any, it may be
	// another's on the second.
	outside, port := server(t, net.JoinHostPort("127.0.0.2", strconv.Itoa(enginetest.FreePort(t))), nil)
	inside, _ := server(t, "127.0.0.1:"+port, nil)
	var turned atomic.Bool
	resolver := names(t, func() string {
		if turned.Load() {
			return "127.0.0.1"
		}
		return "127.0.0.2"
	})
	c := client(t, resolver, "127.0.0.2")
	url := "http://rebind.test:" + port + "/"
	require.NoError(t, get(t, c, url))
	require.EqualValues(t, 1, outside.Load())
	c.CloseIdleConnections()
	turned.Store(true)
	require.True(t, dialguard.IsRefused(get(t, c, url)))
	require.Zero(t, inside.Load())
}

// names returns a resolver whose every name has the address that answer gives.
func names(t *testing.T, answer func() string) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.RecursionAvailable = true, true
			m.Additionals = nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(answer()).As4()},
				}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}
