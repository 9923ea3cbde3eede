package stream

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/ua-parser/uap-go/uaparser"
	"pgregory.net/rapid"
)

var agentExamples = map[string]agentNames{
	"": {},
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                                                         {"Chrome", "Windows"},
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                                                         {"Chrome", "Android"},
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.7339.101 Mobile/15E148 Safari/604.1":                         {"Chrome", "iOS"},
	"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                                                          {"Chrome", "ChromeOS"},
	"Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36":                                  {"Chrome WebView", "Android"},
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":                                           {"Edge", "Windows"},
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0":                                           {"Opera", "Windows"},
	"Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36":                              {"Samsung Internet", "Android"},
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                                                   {"Safari", "macOS"},
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1":                                 {"Safari", "iOS"},
	"Mozilla/5.0 (iPad; CPU OS 16_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1":                                          {"Safari", "iOS"},
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148":                                                           {"Safari WebView", "iOS"},
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 390.0.0.28.85 (iPhone15,2; iOS 18_5; de_DE; de)": {"Instagram", "iOS"},
	"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0":                                                                                                  {"Firefox", "Linux"},
	"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0":                                                                                          {"Firefox", "Linux"},
	"Mozilla/5.0 (Android 15; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0":                                                                                                    {"Firefox", "Android"},
	"Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0) like Gecko":                                                                                                           {"Internet Explorer", "Windows"},
	"Mozilla/5.0 (Linux; Android 15; X6833B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.260 YaBrowser/25.2.0.51 (lite) Mobile Safari/537.36":                {"Yandex Browser", "Android"},
	"Mozilla/5.0 (Linux; U; Android 15; zh-CN; PKB110) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/123.0.6312.80 Quark/7.9.7.782 Mobile Safari/537.36":          {"Quark", "Android"},
	"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/87.0.4280.88 Safari/537.36 HbbTV/1.6.1 (+DRM; LGE; 58BSE9503;)":                         {"Chrome", "webOS"},
	"curl/8.14.1":        {otherAgent, otherAgent},
	"Go-http-client/1.1": {otherAgent, otherAgent},
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/140.0.0.0 Safari/537.36": {otherAgent, otherAgent},
	"NameOfMyOwnBot/1.0": {otherAgent, otherAgent},
	"é \x00":             {otherAgent, otherAgent},
}

func TestNames(t *testing.T) {
	t.Parallel()
	p := newAgentParser()
	for range 2 { // the second time from memory
		for userAgent, want := range agentExamples {
			require.Equal(t, want, p.Names(userAgent), userAgent)
		}
	}
}

// theirBrowsers and theirSystems are the names of a published list (pkg/bot/testdata), by ours.
var theirBrowsers = map[string][]string{
	"Chrome": {"Chrome", "Chromium"}, "Chrome WebView": {"Chrome Webview"}, "Safari": {"Safari"},
	"Safari WebView": {"UIWebView"}, "Firefox": {"Firefox", "Fennec", "Namoroka"},
	"Edge": {"Edge"}, "Internet Explorer": {"Internet Explorer", "IE Mobile"},
	"Opera": {"Opera", "Opera GX", "Opera Touch", "Opera Mobile"}, "Opera Mini": {"Opera Mini"},
	"Samsung Internet": {"SamsungBrowser"}, "Android Browser": {"Stock Android Browser"}, "Amazon Silk": {"Silk"},
	"Brave": {"Brave"}, "Vivaldi": {"Vivaldi"}, "Ecosia": {"Ecosia"},
	"Huawei Browser": {"Huawei Browser"}, "Maxthon": {"Maxthon"}, "Mi Browser": {"Mi Browser"},
	"UC Browser": {"UCBrowser"}, "Yandex Browser": {"Yandex Browser"},
	"Outlook": {"Microsoft Outlook"}, "Thunderbird": {"Thunderbird"}, "Instagram": {"Instagram"}, "Quark": {"Quark"},
}

var theirSystems = map[string][]string{
	"Windows": {"Windows NT", "Windows 9x", "Windows CE", "Windows", "Windows 3.x"}, "Windows Phone": {"Windows Phone"},
	"macOS": {"Mac OS"}, "iOS": {"iOS"}, "Android": {"Android", "FireOS"},
	"ChromeOS": {"Chrome OS"}, "Linux": {"Linux", "Gentoo Linux", "Ubuntu", "Mageia", "Debian", "Kubuntu", "SUSE",
		"Fedora", "Linux Mint", "Raspbian"},
	"BSD": {"OpenBSD", "FreeBSD", "NetBSD"}, "Solaris": {"SunOS"}, "Tizen": {"Tizen"}, "KaiOS": {"KaiOS"},
	"webOS": {"WebOS"}, "Firefox OS": {"Firefox OS"},
	"BlackBerry": {"RIM OS", "BlackBerry", "RIM Tablet OS"}, "Symbian": {"SymbianOS", "Symbian"},
}

// Of the browsers and systems of a published list that have a name here, at least 95 of 100 get it.
func TestNamesOfAPublishedList(t *testing.T) {
	t.Parallel()
	ours := [2]map[string]string{byListedName(theirBrowsers), byListedName(theirSystems)}
	text, err := os.ReadFile("../../pkg/bot/testdata/browsers-yauaa.tsv")
	require.NoError(t, err)
	p := newAgentParser()
	var named, right [2]int
	wrong := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 || line[0] == '#' {
			continue
		}
		got := p.Names(fields[0])
		for i, name := range []string{got.Browser, got.OS} {
			want, ok := ours[i][fields[2+i]]
			if !ok {
				continue
			}
			named[i]++
			// The list has the view that an app carries within it where we have the app.
			if app := strings.HasSuffix(want, "WebView") && slices.Contains([]string{"Facebook", "Instagram", "Google app",
				"LINE", "Pinterest", "Snapchat", "Twitter", "DuckDuckGo", "Yandex Browser"}, name); name == want || app {
				right[i]++
			} else {
				wrong[want+" as "+name]++
			}
		}
	}
	for i, what := range []string{"browsers", "systems"} {
		require.Greater(t, named[i], 2000, what)
		require.GreaterOrEqual(t, right[i]*100, named[i]*95, "%s: %d of %d, %v", what, right[i], named[i], wrong)
	}
}

// No user agent gives a name that is not in the tables, and what was put off for want of a text
// does not match: the names are those of the library itself.
func TestNamesAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	_, err := loadAgentRules()
	require.NoError(t, err)
	list, err := uaparser.New(uaparser.WithMode(uaparser.EUserAgentLookUpMode | uaparser.EOsLookUpMode))
	require.NoError(t, err)
	p := newAgentParser()
	parts := []string{
		"Mozilla/5.0", "(iPhone; CPU iPhone OS 18_5 like Mac OS X)", "(Windows NT 10.0; Win64; x64)", "(X11; Linux x86_64)",
		"(compatible; ", ")", "MSIE 6.0", "Bot/1.0",
		"bot", "CRAWLER", "Spider 2", "Chrome/1.2.3.4", "CriOS/7.0", "Version/4.0", "Safari/5", "Mobile", "UCBrowser/1.2.3",
		"UCWEB7.0.2", "U3/1.2.3", "iPad", "iPod touch", "SymbOS",
		"S60/3", "KAIOS/2.5", "Mac OS X 10_15", "; OS X 10.1", "BMP/1.2.3", "Android 14;", "Opera/9.80", "Presto/2",
		"Edg/1.0", "FBAN/FBIOS", "GSA/1.2", "like Gecko", "cf/1.2.3", "ſK",
	}
	tidy := map[string]bool{otherAgent: true}
	for _, table := range []map[string]string{browsers, systems} {
		for _, name := range table {
			tidy[name] = true
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		userAgent := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "parts"),
			rapid.SampledFrom([]string{" ", "", "; "}).Draw(t, "between"))
		got := p.Names(userAgent)
		require.True(t, tidy[got.Browser] && tidy[got.OS], got)
		require.Equal(t, agentNames{tidyBrowser(list.ParseUserAgent(userAgent).Family),
			tidySystem(list.ParseOs(userAgent).Family)}, got, userAgent)
	})
}

func TestTheMemoIsBounded(t *testing.T) {
	t.Parallel()
	p := newAgentParser()
	for i := range memoSize + 100 {
		p.known.Add(fmt.Sprint(i), agentNames{})
	}
	require.Equal(t, memoSize, p.known.Len())
}

// BenchmarkNames is of user agents that were not seen lately.
func BenchmarkNames(b *testing.B) {
	for userAgent, names := range agentExamples {
		if userAgent == "" {
			continue
		}
		b.Run(names.Browser+" on "+names.OS, func(b *testing.B) {
			r := loadedAgentRules()
			for b.Loop() {
				r.names(userAgent)
			}
		})
	}
}
