package bot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

func rules(t testing.TB) *Rules {
	t.Helper()
	r, err := NewRules()
	require.NoError(t, err)
	return r
}

func TestRules(t *testing.T) {
	t.Parallel()
	r := rules(t)
	header := func(s string) []byte { return []byte(s) }
	person := header(chrome)
	for name, c := range map[string]struct {
		request Request
		want    string
	}{
		"person":        {Request{UserAgent: person}, ""},
		"no user agent": {Request{}, ""},
		"crawler":       {Request{UserAgent: header("Googlebot/2.1"), Head: true}, "crawler:Googlebot"},
		"head":          {Request{UserAgent: person, Head: true}, "head"},
		"head of curl":  {Request{UserAgent: header("curl/8.14.1"), Head: true}, "head"},

		"prefetch":            {Request{UserAgent: person, SecPurpose: header("prefetch")}, "prefetch"},
		"prerender":           {Request{UserAgent: person, SecPurpose: header("prefetch;prerender")}, "prefetch"},
		"through a proxy":     {Request{UserAgent: person, SecPurpose: header("Prefetch; anonymous-client-ip")}, "prefetch"},
		"old prefetch":        {Request{UserAgent: person, Purpose: header("prefetch")}, "prefetch"},
		"preview":             {Request{UserAgent: person, Purpose: header("preview")}, "prefetch"},
		"Firefox prefetch":    {Request{UserAgent: person, XMoz: header("prefetch")}, "prefetch"},
		"prefetch by HEAD":    {Request{UserAgent: person, XMoz: header("prefetch"), Head: true}, "prefetch"},
		"another purpose":     {Request{UserAgent: person, SecPurpose: header("payment")}, ""},
		"word within another": {Request{UserAgent: person, Purpose: header("prefetched")}, ""},

		"Gmail": {Request{UserAgent: header(
			"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)")},
			"mail-scanner:GoogleImageProxy"},
		"Yahoo": {Request{UserAgent: header("YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html")},
			"mail-scanner:YahooMailProxy"},
		"Barracuda": {Request{UserAgent: header("Barracuda Sentinel (EE)")}, "mail-scanner:Barracuda"},
		"Office": {Request{UserAgent: header("Microsoft Office Existence Discovery"), Head: true},
			"mail-scanner:Microsoft Office"},
		"Outlook": {Request{UserAgent: header("Mozilla/4.0 (compatible; ms-office; MSOffice 16)")}, ""},
	} {
		require.Equal(t, c.want, r.Classify(c.request), name)
	}
}

func TestRulesAreShortAndBounded(t *testing.T) {
	t.Parallel()
	for _, s := range mailScanners {
		require.LessOrEqual(t, len(s.rule), event.MaxBotRuleBytes)
		require.Equal(t, strings.ToLower(string(s.word)), string(s.word))
	}
	require.Empty(t, rules(t).Classify(Request{UserAgent: []byte(strings.Repeat("a", maxScanned) + "mimecast")}))
}

func TestRulesAllocateNothing(t *testing.T) {
	r := rules(t)
	for _, agent := range []string{chrome,
		"Mozilla/5.0 (Linux; Android 12; CUBOT_NOTE 20) Chrome/131.0 CamScanner/4.5 MozacFetch/4",
		"Quux/1.0 (+https://quux.example/bots)"} {
		q := Request{UserAgent: []byte(agent), SecPurpose: []byte("prefetch")}
		require.Zero(t, testing.AllocsPerRun(100, func() { r.Classify(q) }))
	}
}
