package collector_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/event"
)

// behindProxy makes X-Forwarded-For of the test's requests the client's address, since programs on
// this machine have no limit.
func behindProxy(limit int) option {
	return func(c *collector.Config, _ *collector.Deps) {
		c.ViewLimit, c.TrustedProxies = limit, []string{"127.0.0.0/8"}
	}
}

func (s *stack) views(t *testing.T, from, token string, n int) answer {
	t.Helper()
	one := `{"token":"` + token + `"}`
	return s.do(t, http.MethodPost, "/v1/link-views", strings.NewReader("["+strings.Repeat(one+",", n-1)+one+"]"),
		"X-Forwarded-For", from)
}

// A landing page's token is public. One address cannot send any number of views under it, in one
// request or in many.
func TestViewsOfALinkFromOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t, behindProxy(20)) // one more every 3 s
	a := s.views(t, "203.0.113.1", s.token, 500)
	require.Equal(t, 202, a.status, a.body)
	require.GreaterOrEqual(t, a.Accepted, 20)
	require.Less(t, a.Accepted, 100)
	require.Len(t, a.Rejected, 500-a.Accepted)
	require.Equal(t, "rate_limited", a.Rejected[0].Code)
	s.recordsOf(t, event.LinkViewTopic, a.Accepted)

	a = s.views(t, "203.0.113.1", s.token, 500)
	if a.status == 202 { // a busy machine took seconds: a view or two became free
		require.Less(t, a.Accepted, 100)
	} else {
		require.Equal(t, 429, a.status, a.body)
		require.Equal(t, "rate_limited", a.Code)
		require.Regexp(t, `^[1-9]\d*$`, a.header.Get("Retry-After"))
	}

	other := s.claims
	other.GenericLinkID = uuid.New()
	require.Equal(t, 20, s.views(t, "203.0.113.1", s.ring.Sign(other), 20).Accepted, "another link")
	require.Equal(t, 20, s.views(t, "203.0.113.2", s.token, 20).Accepted, "another address")
	require.Equal(t, 500, s.views(t, "127.0.0.1", s.token, 500).Accepted, "this machine")
	require.Equal(t, 202, s.post(t, "["+strings.Repeat(s.event()+",", 499)+s.event()+"]", "X-Forwarded-For",
		"203.0.113.1").status, "events have no such limit")
}

// Nor of all links together. What a client writes into the header itself does not make it a program
// of this machine, and images in the mails of many people are fetched by one address.
func TestViewsOfAllLinksFromOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t, behindProxy(20)) // 200 of all links, one more every 300 ms
	elements := make([]string, 400)
	for i := range elements { // 10 views of each of 40 links
		if i%10 == 0 {
			s.claims.GenericLinkID = uuid.New()
		}
		elements[i] = `{"token":"` + s.ring.Sign(s.claims) + `"}`
	}
	send := func(from string) answer {
		return s.do(t, http.MethodPost, "/v1/link-views", strings.NewReader("["+strings.Join(elements, ",")+"]"),
			"X-Forwarded-For", from)
	}
	a := send("127.0.0.1, 203.0.113.1")
	require.Equal(t, 202, a.status, a.body)
	require.GreaterOrEqual(t, a.Accepted, 200)
	require.Less(t, a.Accepted, 400)
	require.Equal(t, "rate_limited", a.Rejected[0].Code)
	require.GreaterOrEqual(t, send("203.0.113.2").Accepted, 200, "another address")

	a = s.do(t, http.MethodPost, "/v1/link-views", strings.NewReader("["+elements[0]+"]"),
		"X-Forwarded-For", "203.0.113.1")
	if a.status != 202 { // a busy machine took 300 ms
		require.Equal(t, 429, a.status, a.body)
		require.Regexp(t, `^[1-9]\d*$`, a.header.Get("Retry-After"))
	}
	for range 30 { // of personal links
		c := s.claims
		c.AccessLinkID = uuid.New()
		requirePixel(t, s.do(t, http.MethodGet, "/v1/pixel.gif?t="+s.ring.Sign(c), http.NoBody,
			"X-Forwarded-For", "203.0.113.1"), 200)
	}
}

func TestPixelsOfALinkFromOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t, behindProxy(1))
	load := func(from string) answer {
		return s.do(t, http.MethodGet, "/v1/pixel.gif?t="+s.token, http.NoBody, "X-Forwarded-For", from)
	}
	require.Equal(t, 200, load("203.0.113.1").status)
	require.Eventually(t, func() bool { // a minute may pass between two requests on a busy machine
		a := load("203.0.113.1")
		if a.status != 429 {
			return false
		}
		requirePixel(t, a, 429)
		require.Regexp(t, `^[1-9]\d*$`, a.header.Get("Retry-After"))
		return true
	}, waitLimit, time.Millisecond)
	require.Equal(t, 200, load("203.0.113.2").status)
}

// quotas are accounts that have used up their events.
type quotas map[uuid.UUID]string

func (q quotas) Exceeded(account uuid.UUID, _ time.Time) string { return q[account] }

// An account that has used up its events of the month: the request is refused, or in a mixed one
// its events are.
func TestEventsBeyondThePlanAreRefused(t *testing.T) {
	t.Parallel()
	spent := claims()
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) {
		d.Quotas = quotas{spent.AccountID: "the plan free allows 5 events a month"}
	})
	beyond := strings.ReplaceAll(s.event(), s.token, s.ring.Sign(spent))
	a := s.post(t, "["+beyond+","+beyond+"]")
	require.Equal(t, 403, a.status, a.body)
	require.Equal(t, "limit_reached", a.Code)
	require.Equal(t, "/api/v1/problems/limit_reached", a.Type)
	require.Contains(t, a.Detail, "the plan free allows 5 events a month")

	a = s.post(t, "["+beyond+","+s.event()+"]")
	require.Equal(t, 202, a.status, a.body)
	require.Equal(t, 1, a.Accepted)
	require.Equal(t, []rejection{{0, "limit_reached", "the plan free allows 5 events a month"}}, a.Rejected)
	require.Equal(t, 422, s.post(t, "["+beyond+","+s.event("token", `"x"`)+"]").status, "for two reasons")

	requirePixel(t, s.pixel(t, http.MethodGet, s.ring.Sign(spent)), 200)
	require.Equal(t, s.claims.AccountID, s.stored(t).AccountID, "nothing of the other account")
	require.Equal(t, 202, s.views(t, "203.0.113.1", s.ring.Sign(spent), 1).status, "views are no events")
}
