package collector_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/event"
)

// trusting makes a collector believe proxies in the networks given.
func trusting(header string, networks ...string) option {
	return func(c *collector.Config, _ *collector.Deps) {
		c.ForwardedHeader, c.TrustedProxies = header, networks
	}
}

// hashes posts one event for each set of headers and returns the hashes, "" for none.
func (s *stack) hashes(t *testing.T, requests ...[]string) []string {
	t.Helper()
	for i, headers := range requests {
		a := s.post(t, s.event("event_data", `{"page":`+string(rune('1'+i))+`}`), headers...)
		require.Equal(t, 202, a.status, a.body)
	}
	list := make([]string, len(requests))
	for _, r := range s.records(t, len(requests)) {
		var e event.Event
		require.NoError(t, e.Decode(r.Value))
		require.NotContains(t, string(r.Value), "203.0.113")
		if e.IPHash != [16]byte{} {
			list[e.Page-1] = hex.EncodeToString(e.IPHash[:])
		}
	}
	require.NotContains(t, s.log.String(), "203.0.113")
	return list
}

func xff(value string) []string { return []string{"X-Forwarded-For", value} }

func TestForwardedForIsIgnoredFromStrangers(t *testing.T) {
	t.Parallel()
	for _, s := range []*stack{newStack(t), newStack(t, trusting("x-forwarded-for", "10.0.0.0/8"))} {
		h := s.hashes(t, nil, xff("203.0.113.1"), xff("rubbish"))
		require.NotEmpty(t, h[0])
		require.Equal(t, []string{h[0], h[0], h[0]}, h)
	}
}

func TestForwardedForOfTrustedProxies(t *testing.T) {
	t.Parallel()
	s := newStack(t, trusting("x-forwarded-for", "127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"))
	h := s.hashes(t,
		xff("203.0.113.1"),
		xff("198.51.100.9, 203.0.113.1"),          // the left one is the client's own invention
		xff("203.0.113.1, 10.1.2.3"),              // two proxies in a row
		xff("203.0.113.1:4711,2001:db8:1::7 , ,"), // with a port, and empty elements
		xff("::ffff:203.0.113.1"),                 // IPv4 within IPv6
		xff("203.0.113.2"),                        // someone else
		xff("203.0.113.1, unknown"),               // withheld
		nil,                                       // the proxy itself
		[]string{"Forwarded", "for=203.0.113.1"})  // the header that the proxy does not set
	require.NotEmpty(t, h[0])
	for i := range 5 {
		require.Equal(t, h[0], h[i], i)
	}
	require.NotEqual(t, h[0], h[5])
	require.Empty(t, h[6])
	require.NotEqual(t, h[0], h[7])
	require.NotEmpty(t, h[7])
	require.Equal(t, h[7], h[8])
}

func TestForwardedOfTrustedProxies(t *testing.T) {
	t.Parallel()
	s := newStack(t, trusting("forwarded", "127.0.0.1", "10.0.0.0/8"))
	forwarded := func(value string) []string { return []string{"Forwarded", value} }
	h := s.hashes(t,
		forwarded("for=203.0.113.1"),
		forwarded(`For="203.0.113.1:80";proto=https;by="a,b", for=10.0.0.1;host=x`),
		forwarded(`for="[2001:db8::1]:4711"`),
		forwarded(`for="[2001:db8::1]"`),
		forwarded(`for=_hidden`),
		forwarded(`proto=https`),
		xff("203.0.113.1"),
		// The client begins a quotation, so that the proxy's word seems to be part of it.
		forwarded(`for=203.0.113.1;x=", for=203.0.113.9`),
		forwarded(`for=203.0.113.1;x="\\", for=203.0.113.2`))
	require.NotEmpty(t, h[0])
	require.Equal(t, h[0], h[1])
	require.Equal(t, h[2], h[3])
	require.NotEqual(t, h[0], h[2])
	require.Empty(t, h[4])
	require.Empty(t, h[5])
	require.NotEqual(t, h[0], h[6])
	require.Empty(t, h[7])
	require.NotEmpty(t, h[8])
	require.NotEqual(t, h[0], h[8])
}

// A server that reports what a visitor did says that the address is not the visitor's.
func TestAServersAddressIsNotTheVisitors(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	h := s.hashes(t, []string{"Forwarded", "for=unknown"}, []string{"Forwarded", "for=203.0.113.1"})
	require.Empty(t, h[0])
	require.NotEmpty(t, h[1])
}

func TestPrivacySignals(t *testing.T) {
	t.Parallel()
	const agent = "Mozilla/5.0 Firefox/143.0"
	for name, c := range map[string]struct {
		setting, header, value string
		kept                   bool
	}{
		"GPC":         {"honour", "Sec-GPC", "1", false},
		"DNT":         {"honour", "DNT", "1", false},
		"DNT 0":       {"honour", "DNT", "0", true},
		"GPC ignored": {"ignore", "Sec-GPC", "1", true},
		"DNT ignored": {"ignore", "DNT", "1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t, func(config *collector.Config, _ *collector.Deps) { config.PrivacySignals = c.setting })
			require.Equal(t, 202, s.post(t, s.event(), c.header, c.value, "User-Agent", agent).status)
			e := s.stored(t)
			require.Equal(t, c.kept, e.IPHash != [16]byte{})
			require.Equal(t, c.kept, string(e.UserAgent) == agent)
			require.Equal(t, !c.kept, len(e.UserAgent) == 0)
		})
	}
}

func TestBotsAreKeptAndNamed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, 202, s.post(t, s.event(), "User-Agent", "Mozilla/5.0 (compatible; bingbot/2.0)", "DNT", "1").status)
	e := s.stored(t)
	require.Equal(t, "crawler:bingbot", e.Bot)
	require.Empty(t, e.UserAgent)
	require.InDelta(t, 1, s.metric(t, "lodestone_collector_bot_events_total"), 0)
}

func TestUserAgentIsCutAndMadeValid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, kept string }{
		"cut":                       {strings.Repeat("a", 600), strings.Repeat("a", 512)},
		"at a character":            {strings.Repeat("a", 511) + "éé", strings.Repeat("a", 511)},
		"at a wide character":       {strings.Repeat("a", 509) + "😀é", strings.Repeat("a", 509)},
		"invalid":                   {"a\xffb", "a\uFFFDb"},
		"invalid and long":          {strings.Repeat("\xff", 600), strings.Repeat("\uFFFD", 170)},
		"invalid just at the end":   {strings.Repeat("a", 510) + "\xff\xff\xff\xff", strings.Repeat("a", 510)},
		"valid and exactly as long": {strings.Repeat("a", 510) + "é", strings.Repeat("a", 510) + "é"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			_, reader := s.dial(t,
				sized("POST", "/v1/events", "Content-Type: text/plain\r\nUser-Agent: "+c.sent+"\r\n", s.event()))
			require.Equal(t, http.StatusAccepted, status(t, reader))
			e := s.stored(t)
			require.True(t, utf8.Valid(e.UserAgent))
			require.LessOrEqual(t, len(e.UserAgent), event.MaxAgentBytes)
			require.Equal(t, c.kept, string(e.UserAgent))
		})
	}
}

// Without a salt the event is kept, without the hash.
func TestEventsWithoutSalt(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Addresses = noHasher{} })
	require.Equal(t, 202, s.post(t, s.event()).status)
	e := s.stored(t)
	require.Zero(t, e.IPHash)
	require.Equal(t, "test", string(e.UserAgent))
	require.InDelta(t, 1, s.metric(t, "lodestone_collector_unhashed_events_total"), 0)
}
