package clientaddr_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
)

func TestClient(t *testing.T) {
	t.Parallel()
	const own = "203.0.113.9"
	for _, test := range []struct {
		name, peer, header string
		values             []string
		want               string // "": unknown
	}{
		{"a stranger is believed nothing", own + ":1", "X-Forwarded-For", []string{"1.2.3.4"}, own},
		{"a proxy that adds nothing", "10.0.0.1:1", "", nil, "10.0.0.1"},
		{"one proxy", "10.0.0.1:1", "X-Forwarded-For", []string{"1.2.3.4"}, "1.2.3.4"},
		{"a forged address is left of the real one", "10.0.0.1:1", "X-Forwarded-For",
			[]string{"9.9.9.9, 1.2.3.4"}, "1.2.3.4"},
		{"two proxies", "10.0.0.1:1", "X-Forwarded-For", []string{"1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{"two lines", "10.0.0.1:1", "X-Forwarded-For", []string{"9.9.9.9", "1.2.3.4,10.0.0.2"}, "1.2.3.4"},
		{"empty elements", "10.0.0.1:1", "X-Forwarded-For", []string{"1.2.3.4, ,"}, "1.2.3.4"},
		{"everybody is trusted", "10.0.0.1:1", "X-Forwarded-For", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a port", "10.0.0.1:1", "X-Forwarded-For", []string{"1.2.3.4:567"}, "1.2.3.4"},
		{"a port of IPv6", "10.0.0.1:1", "X-Forwarded-For", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		{"a private client", "10.0.0.1:1", "X-Forwarded-For", []string{"172.25.1.20"}, "172.25.1.20"},
		{"two proxies, the second by IPv6", "10.0.0.1:1", "X-Forwarded-For", []string{"1.2.3.4, fd00:cd::7"}, "1.2.3.4"},
		{"IPv6", "[::ffff:10.0.0.1]:1", "X-Forwarded-For", []string{"[2001:db8::1]:567"}, "2001:db8::1"},
		{"no address", "10.0.0.1:1", "X-Forwarded-For", []string{"unknown"}, ""},
		{"the other header", "10.0.0.1:1", "Forwarded", []string{"for=1.2.3.4"}, "10.0.0.1"},
		{"no peer", "@", "", nil, ""},
	} {
		f, err := clientaddr.Config{TrustedProxies: []string{"10.0.0.0/8", "fd00:cd::/32"}}.Finder()
		require.NoError(t, err)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = test.peer
		if test.header != "" {
			r.Header[test.header] = test.values
		}
		want, _ := netip.ParseAddr(test.want)
		require.Equal(t, want, f.Client(r), test.name)
	}
}

func TestForwarded(t *testing.T) {
	t.Parallel()
	f, err := clientaddr.Config{TrustedProxies: []string{"10.0.0.1"}, ForwardedHeader: "forwarded"}.Finder()
	require.NoError(t, err)
	for value, want := range map[string]string{
		`for=9.9.9.9, for=1.2.3.4;proto=https`:          "1.2.3.4",
		`proto=https;For="[2001:db8::1]:4711"`:          "2001:db8::1",
		`for=1.2.3.4;by="a,b;for=9.9.9.9"`:              "1.2.3.4",
		`for="9.9.9.9, for=1.2.3.4`:                     "",
		`for=9.9.9.9, for=""`:                           "", // withheld: anything left of it can be forged
		`for=_hidden`:                                   "",
		`proto=https`:                                   "",
		`for=1.2.3.4, for="10.0.0.1:80";host="x\"y, z"`: "1.2.3.4",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = "10.0.0.1:99"
		r.Header.Set("Forwarded", value)
		addr, _ := netip.ParseAddr(want)
		require.Equal(t, addr, f.Client(r), value)
	}
}

func TestWithheld(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"for=unknown": true, "For=Unknown": true, `for="unknown"`: true, "FOR=UNKNOWN;proto=https": true,
		"proto=https; for=unknown": true,
		"for=1.2.3.4, for=unknown": true, `by="a,b";for=unknown`: true,
		"": false, "for=1.2.3.4": false, "for=unknown, for=1.2.3.4": false, "proto=https": false, "for=_unknown": false,
		"by=unknown": false, `for="unknown`: false,
	} {
		require.Equal(t, want, clientaddr.Withheld([]string{"for=9.9.9.9", line}), line)
	}
	require.False(t, clientaddr.Withheld(nil))
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{"1.2.3.4": "1.2.3.4", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::"} {
		require.Equal(t, netip.MustParseAddr(want), clientaddr.Network(netip.MustParseAddr(addr)))
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, clientaddr.Config{}.Validate())
	require.NoError(t, clientaddr.Config{TrustedProxies: []string{"10.0.0.0/8", "::1"},
		ForwardedHeader: "forwarded"}.Validate())
	require.True(t, config.IsInvalid(clientaddr.Config{TrustedProxies: []string{"proxy"}}.Validate()))
	require.True(t, config.IsInvalid(clientaddr.Config{ForwardedHeader: "x-real-ip"}.Validate()))
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "localhost", "10.0.0.0/33", "fe80::1%eth0", "::ffff:10.0.0.1",
		"::ffff:10.0.0.0/104"} {
		_, err := clientaddr.ParseNetwork(text)
		require.Error(t, err, text)
	}
	network, err := clientaddr.ParseNetwork(" 10.1.2.3/16")
	require.NoError(t, err)
	require.Equal(t, "10.1.0.0/16", network.String())
}
