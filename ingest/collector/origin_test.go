package collector_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/country"
	"lodestone/pkg/event"
	"lodestone/pkg/test/countrytest"
)

// sendAll sends all that is recorded: an event, a link view, and pixels of an access link and of a
// landing page.
func (s *stack) sendAll(t *testing.T, headers ...string) {
	t.Helper()
	require.Equal(t, 202, s.post(t, s.event(), headers...).status)
	require.Equal(t, 202, s.view(t, `{"token":"`+s.landing()+`"}`, headers...).status)
	for _, token := range []string{s.token, s.landing()} {
		require.Equal(t, 200, s.pixel(t, "GET", token, headers...).status)
	}
}

// origins returns those of two events and two link views for each time that sendAll was called, by
// user agent.
func (s *stack) origins(t *testing.T, calls int) map[string][]event.Origin {
	t.Helper()
	found := map[string][]event.Origin{}
	for _, r := range s.records(t, 2*calls) {
		var e event.Event
		require.NoError(t, e.Decode(r.Value))
		found[string(e.UserAgent)] = append(found[string(e.UserAgent)], e.Origin)
	}
	for _, r := range s.recordsOf(t, event.LinkViewTopic, 2*calls) {
		var v event.LinkView
		require.NoError(t, v.Decode(r.Value))
		found[string(v.UserAgent)] = append(found[string(v.UserAgent)], v.Origin)
	}
	return found
}

// inGermany makes a collector find addresses of a network in Germany, and trust the proxies of this
// machine.
func inGermany(t *testing.T) option {
	t.Helper()
	db, err := country.Config{Database: countrytest.Germany(t, "203.0.113.0/24")}.Open()
	require.NoError(t, err)
	return func(c *collector.Config, d *collector.Deps) {
		d.Countries = db
		c.ForwardedHeader, c.TrustedProxies = "x-forwarded-for", []string{"127.0.0.1"}
	}
}

func origin(language, code string) event.Origin {
	l, _ := event.ParseLanguage([]byte(language))
	c, _ := event.ParseCountry(code)
	return event.Origin{Language: l, Country: c}
}

// Everything that is recorded has the language and the country.
func TestOrigin(t *testing.T) {
	t.Parallel()
	s := newStack(t, inGermany(t))
	cases := map[string]struct {
		headers []string
		want    event.Origin
	}{
		"a visitor": {[]string{"X-Forwarded-For", "203.0.113.7", "Accept-Language", "de-AT,de;q=0.9,en;q=0.8"},
			origin("de", "DE")},
		"an unknown address": {[]string{"X-Forwarded-For", "192.0.2.1", "Accept-Language", "gsw"}, origin("gsw", "")},
		"a withheld address": {[]string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=unknown", "Accept-Language",
			"fr;q=0.9"}, origin("fr", "")},
		"a stated country":         {[]string{"Forwarded", "for=unknown", "Lodestone-Country", "AT"}, origin("", "AT")},
		"a stated place":           {[]string{"Forwarded", "for=unknown", "Lodestone-Country", "Vienna"}, event.Origin{}},
		"a stated other country":   {[]string{"X-Forwarded-For", "203.0.113.7", "Lodestone-Country", "AT"}, origin("", "DE")},
		"without a language":       {[]string{"X-Forwarded-For", "203.0.113.7"}, origin("", "DE")},
		"a language in capitals":   {[]string{"Accept-Language", " PT-br , en"}, origin("pt", "")},
		"any language":             {[]string{"Accept-Language", "*"}, event.Origin{}},
		"a private language":       {[]string{"Accept-Language", "x-klingon, en"}, event.Origin{}},
		"no language":              {[]string{"Accept-Language", "../../etc/passwd"}, event.Origin{}},
		"a language in full words": {[]string{"Accept-Language", "german"}, event.Origin{}},
	}
	for name, c := range cases {
		s.sendAll(t, append(c.headers, "User-Agent", name)...)
	}
	for _, signal := range []string{"Sec-GPC", "DNT"} { // whose user agent is not stored either
		s.sendAll(t, "X-Forwarded-For", "203.0.113.7", "Accept-Language", "de", "User-Agent", "Mozilla/5.0", signal, "1")
	}
	found := s.origins(t, len(cases)+2)
	for name, c := range cases {
		require.Equal(t, []event.Origin{c.want, c.want, c.want, c.want}, found[name], name)
	}
	require.Equal(t, make([]event.Origin, 8), found[""])
}

func TestOriginWithoutSignalsOrDatabase(t *testing.T) {
	t.Parallel()
	s := newStack(t, inGermany(t), func(c *collector.Config, d *collector.Deps) {
		c.PrivacySignals,
			d.Countries = "ignore", nil
	})
	s.sendAll(t, "X-Forwarded-For", "203.0.113.7", "Accept-Language", "de", "DNT", "1", "User-Agent", "any")
	s.sendAll(t, "Forwarded", "for=unknown", "Lodestone-Country", "AT", "Accept-Language", "de", "User-Agent", "any")
	for _, found := range s.origins(t, 2)["any"] {
		require.Equal(t, origin("de", ""), found)
	}
}
