package bot

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

func classifier(t testing.TB) *Crawlers {
	t.Helper()
	c, err := NewCrawlers()
	require.NoError(t, err)
	return c
}

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

func TestClassify(t *testing.T) {
	t.Parallel()
	c := classifier(t)
	for agent, want := range map[string]string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "crawler:Googlebot",
		"AdsBot-Google (+http://www.google.com/adsbot.html)":                       "crawler:AdsBot-Google",
		"Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot)":   "crawler:SEMrushBot",
		"Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36":   "crawler:HeadlessChrome",
		"facebookexternalhit/1.1": "crawler:facebookexternalhit",
		"Scrapy/2.11":             "crawler:Scrapy",
		"SSL Labs":                "crawler:SSL Labs",

		// People, also in the browsers that apps carry within them.
		chrome: "",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0":                                                                                              "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1":                                           "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 390.0.0.28.85":                                             "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/520.0.0.38.101]":                                    "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.30.1":                                                "",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/380.0 Mobile/15E148 Safari/604.1":                                              "",
		"Mozilla/5.0 (Linux; Android 15; SM-S931B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":                                        "",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":                                                     "",
		"Mozilla/5.0 (Linux; Android 9; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/126.4.1 like Chrome/126.0.0.0 Safari/537.36":                                                    "",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.45 Chrome/136.0.0.0 Electron/36.0 Safari/537.36":                                          "",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Teams/25.1 Chrome/136.0.0.0 Safari/537.36 Outlook/16.0":                                           "",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP3A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 musical_ly_2023 BytedanceWebview": "",

		// Servers send events too.
		"":                                "",
		"curl/8.14.1":                     "",
		"Wget/1.25.0":                     "",
		"Go-http-client/2.0":              "",
		"python-requests/2.32.5":          "",
		"python-httpx/0.28.1":             "",
		"Python/3.13 aiohttp/3.12":        "",
		"okhttp/5.1.0":                    "",
		"axios/1.12.2":                    "",
		"node-fetch/1.0":                  "",
		"Java/21.0.8":                     "",
		"Java-http-client/21.0.8":         "",
		"Apache-HttpClient/5.5 (Java/21)": "",
		"GuzzleHttp/7":                    "",
		"Amazon CloudFront":               "",
		"Zapier":                          "",
	} {
		require.Equal(t, want, c.Classify(Request{UserAgent: []byte(agent)}), agent)
	}
}

// The automaton must find just what trying every pattern in turn would.
func TestClassifyAgreesWithThePatterns(t *testing.T) {
	t.Parallel()
	c := classifier(t)
	var all []*regexp.Regexp
	var agents []string
	for line := range strings.Lines(crawlersFile) {
		text, tags, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		text, ok := patternOf(text, tags)
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		all = append(all, regexp.MustCompile(text))
		if len(all)%8 != 0 && !strings.ContainsAny(text, "[(|^$*") {
			continue // plain literals are all alike, and trying every pattern is slow
		}
		tree := strings.NewReplacer(`\/`, "/", `\.`, ".", `\(`, "(", `\)`, ")", "^", "", "$", "").Replace(text)
		agents = append(agents, tree, "Mozilla/5.0 (compatible; "+tree+"1.0) Safari",
			strings.ToUpper(tree), tree[:len(tree)-1])
	}
	require.Len(t, c.patterns, len(all))
	for _, agent := range agents {
		want := ""
		for i, re := range all {
			if re.MatchString(agent) {
				want = c.patterns[i].name
				break
			}
		}
		require.Equal(t, want, c.Classify(Request{UserAgent: []byte(agent)}), agent)
	}
}

func TestRuleNames(t *testing.T) {
	t.Parallel()
	for _, p := range classifier(t).patterns {
		require.True(t, strings.HasPrefix(p.name, rulePrefix) && len(p.name) > len(rulePrefix), p.name)
		require.LessOrEqual(t, len(p.name), event.MaxBotRuleBytes)
	}
}

// Each of many user agents has its own answer, the first time and the next.
func TestManyUserAgents(t *testing.T) {
	t.Parallel()
	c := classifier(t)
	for range 2 {
		for i := range 3000 {
			require.Empty(t, c.Classify(Request{UserAgent: fmt.Appendf(nil, "%s Version/%d", chrome, i)}))
			require.NotEmpty(t, c.Classify(Request{UserAgent: fmt.Appendf(nil,
				"Mozilla/5.0 (compatible; Googlebot/%d.1; +http://www.google.com/bot.html)", i)}))
		}
	}
}

func TestClassifyAllocatesNothing(t *testing.T) {
	c := classifier(t)
	agent := []byte(chrome)
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Classify(Request{UserAgent: agent}) }))
}

func TestRulesGiveTheSameAnswerAgain(t *testing.T) {
	t.Parallel()
	r, err := NewRules()
	require.NoError(t, err)
	for range 3 {
		require.Empty(t, r.Classify(Request{UserAgent: []byte(chrome)}))
		require.Equal(t, "head", r.Classify(Request{UserAgent: []byte(chrome), Head: true}))
		require.Equal(t, "mail-scanner:GoogleImageProxy",
			r.Classify(Request{UserAgent: []byte("via ggpht.com GoogleImageProxy"), Head: true}))
	}
}

func BenchmarkClassify(b *testing.B) {
	c, err := NewRules()
	require.NoError(b, err)
	for name, agent := range map[string][]byte{
		"person":  []byte(chrome),
		"bot":     []byte("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
		"longest": bytes.Repeat([]byte("bot "), event.MaxAgentBytes/4),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Classify(Request{UserAgent: agent})
			}
		})
		b.Run(name+"/unseen", func(b *testing.B) {
			for b.Loop() {
				c.crawlers.Classify(Request{UserAgent: agent})
			}
		})
	}
}

func BenchmarkNewCrawlers(b *testing.B) {
	for b.Loop() {
		classifier(b)
	}
}
