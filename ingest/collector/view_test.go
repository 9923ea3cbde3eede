package collector_test

import (
	"bytes"
	"fmt"
	"image/gif"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/event"
	"lodestone/pkg/source"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

// landing returns the token of a landing page.
func (s *stack) landing() string {
	c := s.claims
	c.AccessLinkID = uuid.Nil
	return s.ring.Sign(c)
}

func (s *stack) view(t testing.TB, body string, headers ...string) answer {
	t.Helper()
	return s.do(t, http.MethodPost, "/v1/link-views", strings.NewReader(body), headers...)
}

func (s *stack) storedView(t testing.TB) event.LinkView {
	t.Helper()
	r := s.recordsOf(t, event.LinkViewTopic, 1)[0]
	var v event.LinkView
	require.NoError(t, v.Decode(r.Value))
	require.Equal(t, v.GenericLinkID[:], r.Key)
	return v
}

func TestLinkView(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.view(t, `{"token":"`+s.landing()+
		`","event_id":"01890a5d-ac96-774b-bcce-b302099a8057","referrer":"https://example.org/a","url":"https://example.com/l/x?\u0075tm_source=a"}`)
	require.Equal(t, 202, a.status, a.body)
	require.Equal(t, 1, a.Accepted)
	v := s.storedView(t)
	require.NotZero(t, v.IPHash)
	v.IPHash = [16]byte{}
	require.Equal(t, event.LinkView{
		AccountID: s.claims.AccountID, LeadMagnetID: s.claims.LeadMagnetID, GenericLinkID: s.claims.GenericLinkID,
		EventID: uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057"), Referrer: []byte("https://example.org/a"),
		URL:       []byte("https://example.com/l/x?utm_source=a"),
		UserAgent: []byte("test"), CreatedAt: now.UnixMilli(), ReceivedAt: now.UnixMilli(),
	}, v)
}

// A query holds what identifies a visitor: no way of sending a view stores more of it than the
// campaign.
func TestQueriesOfPagesAreNotStored(t *testing.T) {
	t.Parallel()
	for given, stored := range map[string]string{
		"https://example.com/l/x":                                                     "https://example.com/l/x",
		"https://example.com/l/x?":                                                    "https://example.com/l/x",
		"https://example.com/l/x#ada":                                                 "https://example.com/l/x",
		"https://example.com/l/x#?utm_term=ada":                                       "https://example.com/l/x",
		"https://example.com/l/x?email=ada%40example.com":                             "https://example.com/l/x",
		"https://example.com/l/x?email=ada&utm_source=a&q=ada&utm_medium=b%20c&x#ada": "https://example.com/l/x?utm_source=a&utm_medium=b%20c",
		"https://example.com/l/x?utm_campaign=a&utm_content=b&utm_term=c&utm_term=d":  "https://example.com/l/x?utm_campaign=a&utm_term=c&utm_content=b",
		"https://ada:pw@example.com/l/x?utm_source=Zoe%CC%88%E2%80%8B%20%C3":          "https://example.com/l/x?utm_source=Zoë",
		"https://example.com/l/x?utm_id=ada&UTM_SOURCE=ada&utm_source_x=ada":          "https://example.com/l/x",
		"?ada": "",
		"https://example.com/" + strings.Repeat("x", source.MaxAddressBytes) + "?email=ada": ("https://example.com/" +
			strings.Repeat("x", source.MaxAddressBytes))[:source.MaxAddressBytes],
	} {
		t.Run(given[:min(len(given), 100)], func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			require.Equal(t, 202, s.view(t, `{"token":"`+s.landing()+`","referrer":"`+given+`","url":"`+given+`"}`).status)
			requirePixel(t, s.pixel(t, http.MethodGet, s.landing(), "Referer", given), 200)
			for _, r := range s.recordsOf(t, event.LinkViewTopic, 2) {
				var v event.LinkView
				require.NoError(t, v.Decode(r.Value))
				require.Equal(t, stored, string(v.URL))
				if len(v.Referrer) > 0 { // the pixel knows no referrer
					require.Equal(t, stored, string(v.Referrer))
				}
			}
		})
	}
}

func TestLinkViewsInOneRequest(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	good := `{"token":"` + s.landing() + `"}`
	alone := s.claims
	alone.GenericLinkID = uuid.Nil
	a := s.view(t, `[`+strings.Join([]string{
		good,
		`{"token":"` + s.token + `"}`, // an access link's, which knows its landing page
		`{"token":"` + s.ring.Sign(alone) + `"}`,
		`{"token":"x"}`, `1`,
		`{"token":"` + s.landing() + `","event_type":"page_viewed"}`,
		`{"token":"` + s.landing() + `","event_id":"x"}`,
		`{"token":"` + s.landing() + `","url":1}`,
		`{"token":"` + s.landing() + `","referrer":"a","referrer":"b"}`,
		`{"token":"` + s.landing() + `","url":null,"referrer":"` + strings.Repeat("ü", 5000) + `"}`,
	}, ",")+`]`, "Content-Type", "text/plain")
	require.Equal(t, 202, a.status, a.body)
	require.Equal(t, 3, a.Accepted)
	codes := map[int]string{}
	for _, r := range a.Rejected {
		codes[r.Index] = r.Code
	}
	require.Equal(t, map[int]string{
		2: "invalid_token", 3: "invalid_token", 4: "invalid_token", 5: "unknown_field", 6: "invalid_event_id",
		7: "invalid_event_data", 8: "invalid_event_data",
	}, codes)
	longest := 0
	for _, r := range s.recordsOf(t, event.LinkViewTopic, 3) {
		var v event.LinkView
		require.NoError(t, v.Decode(r.Value))
		longest = max(longest, len(v.Referrer))
	}
	require.Equal(t, source.MaxAddressBytes, longest)
	require.Equal(t, 422, s.view(t, `[]`).status)
	require.Equal(t, 400, s.view(t, `{`).status)
	require.Equal(t, 413, s.view(t, `[`+good+strings.Repeat(","+good, collector.MaxElements)+`]`).status)
	require.Equal(t, 405, s.do(t, http.MethodGet, "/v1/link-views", nil).status)
	require.Equal(t, 204, s.do(t, http.MethodOptions, "/v1/link-views", nil).status)
	// A landing page's token sends no events.
	require.Equal(t, 422, s.post(t, s.event("token", `"`+s.landing()+`"`)).status)
}

func TestLinkViewOfSomeoneWhoObjects(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.view(t, `{"token":"`+s.landing()+`","referrer":"https://example.org/a","url":"https://example.com/l/x"}`,
		"Sec-GPC", "1")
	require.Equal(t, 202, a.status)
	v := s.storedView(t)
	require.Zero(t, v.IPHash)
	require.Empty(t, v.UserAgent)
	require.Empty(t, v.Referrer)
	require.Empty(t, v.URL)
}

func requirePixel(t *testing.T, a answer, status int) {
	t.Helper()
	require.Equal(t, status, a.status)
	require.Equal(t, "image/gif", a.header.Get("Content-Type"))
	require.Equal(t, "no-store", a.header.Get("Cache-Control"))
	require.Empty(t, a.header.Get("Set-Cookie"))
	image, err := gif.Decode(bytes.NewReader([]byte(a.body)))
	require.NoError(t, err)
	require.Equal(t, 1, image.Bounds().Dx()*image.Bounds().Dy())
	_, _, _, alpha := image.At(0, 0).RGBA()
	require.Zero(t, alpha, "transparent")
}

func (s *stack) pixel(t testing.TB, method, token string, headers ...string) answer {
	t.Helper()
	return s.do(t, method, "/v1/pixel.gif?t="+token, nil, headers...)
}

func claimsOf(e *event.Event) token.Claims {
	return token.Claims{AccountID: e.AccountID, LeadMagnetID: e.LeadMagnetID, GenericLinkID: e.GenericLinkID,
		AccessLinkID: e.AccessLinkID, MagnetVersion: e.MagnetVersion}
}

func TestPixelOfAnAccessLink(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	requirePixel(t, s.pixel(t, http.MethodGet, s.token, "Referer", "https://example.org/"), 200)
	e := s.stored(t)
	require.Equal(t, s.claims, claimsOf(&e))
	require.Equal(t, event.PageViewed, e.Type)
	require.Zero(t, e.Page)
	require.NotZero(t, e.EventID)
	require.NotZero(t, e.IPHash)
	require.Equal(t, now.UnixMilli(), e.CreatedAt)
	require.Empty(t, e.Bot)
}

func TestPixelOfALandingPage(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	requirePixel(t, s.pixel(t, http.MethodGet, s.landing(), "Referer", "https://example.org/page"), 200)
	v := s.storedView(t)
	require.Equal(t, "https://example.org/page", string(v.URL))
	require.Empty(t, v.Referrer)
	require.NotZero(t, v.IPHash)
}

func TestPixelOfSomeoneWhoObjects(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	requirePixel(t, s.pixel(t, http.MethodGet, s.landing(), "Referer", "https://example.org/page", "DNT", "1"), 200)
	v := s.storedView(t)
	require.Empty(t, v.URL)
	require.Zero(t, v.IPHash)
	require.Empty(t, v.UserAgent)
}

// A view from a network of the operator's file names the rule. That of anyone else, of a program
// that says what it is, or of a visitor who asks not to be tracked does not.
func TestViewsFromADataCentreAreSuspected(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "networks.txt")
	require.NoError(t, os.WriteFile(file, []byte("203.0.113.0/24\n"), 0o600))
	s := newStack(t, behindProxy(0), func(_ *collector.Config, d *collector.Deps) {
		var err error
		d.Networks, err = suspect.Config{File: file}.Open()
		require.NoError(t, err)
	})
	body := fmt.Sprintf(`{"token":%q}`, s.landing())
	for _, headers := range [][]string{
		{"X-Forwarded-For", "203.0.113.9"}, {"X-Forwarded-For", "198.51.100.7"},
		{"X-Forwarded-For", "203.0.113.9", "User-Agent", "Googlebot/2.1"}, {"X-Forwarded-For", "203.0.113.9", "DNT", "1"},
	} {
		require.Equal(t, 202, s.view(t, body, headers...).status)
	}
	requirePixel(t, s.pixel(t, http.MethodGet, s.landing(), "X-Forwarded-For", "203.0.113.9"), 200)
	suspects := map[string]int{}
	for _, r := range s.recordsOf(t, event.LinkViewTopic, 5) {
		var v event.LinkView
		require.NoError(t, v.Decode(r.Value))
		suspects[v.Suspect+" "+v.Bot]++
	}
	require.Equal(t, map[string]int{"network ": 2, " ": 2, " crawler:Googlebot": 1}, suspects)
}

func TestPixelIsClassified(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.pixel(t, http.MethodHead, s.token)
	require.Equal(t, 200, a.status)
	require.Empty(t, a.body)
	require.Equal(t, "image/gif", a.header.Get("Content-Type"))
	s.pixel(t, http.MethodGet, s.token, "Sec-Purpose", "prefetch;prerender")
	s.pixel(t, http.MethodGet, s.token, "X-Purpose", "preview")
	s.pixel(t, http.MethodGet, s.token, "User-Agent",
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)")
	rules := map[string]int{}
	for _, r := range s.records(t, 4) {
		var e event.Event
		require.NoError(t, e.Decode(r.Value))
		rules[e.Bot]++
	}
	require.Equal(t, map[string]int{"head": 1, "prefetch": 2, "mail-scanner:GoogleImageProxy": 1}, rules)
	require.InDelta(t, 4, s.metric(t, "lodestone_collector_bot_events_total"), 0)
}

// A wrong token breaks no page: the image is shown, and the mistake counted.
func TestPixelWithAWrongToken(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	none := s.claims
	none.AccessLinkID, none.GenericLinkID = uuid.Nil, uuid.Nil
	for _, wrong := range []string{"", "x", s.token[1:], s.ring.Sign(none)} {
		requirePixel(t, s.pixel(t, http.MethodGet, wrong), 200)
	}
	require.InDelta(t, 4, s.metric(t, "lodestone_collector_rejected_events_total"), 0)
	require.Zero(t, s.metric(t, "lodestone_collector_accepted_events_total"))
	a := s.do(t, http.MethodPost, "/v1/pixel.gif?t="+s.token, nil)
	require.Equal(t, 405, a.status)
	require.Equal(t, "GET, HEAD", a.header.Get("Allow"))
}

func TestPixelThatCannotBeStored(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.AckTimeout = 300 * time.Millisecond })
	s.holdAcks(t)
	a := s.pixel(t, http.MethodGet, s.token)
	requirePixel(t, a, 503)
	require.NotEmpty(t, a.header.Get("Retry-After"))
}
