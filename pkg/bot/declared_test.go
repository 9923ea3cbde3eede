package bot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

const (
	onAndroid = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.6778.260 Mobile Safari/537.36"
	onIPhone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
	electron  = "Chrome/142.0.7444.265 Electron/39.8.5 Safari/537.36"
)

// Phones, browsers within apps, and apps of desktops have a person in front, whatever they are
// called.
func TestPeople(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for _, agent := range []string{
		// Names of devices and releases of Android.
		"Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) " + onAndroid,
		"Mozilla/5.0 (Linux; U; Android 15; zh-cn; PJZ110 Build/AP3A.240617.008) " + onAndroid + " HeyTapBrowser/40.9.0.1",
		"Mozilla/5.0 (Linux; Android 6.0; VR BOT 552 PLUS) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 13; Spider 8) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 14; Monitor One (2024)) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 8.0.0; Expanse) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 4.4.2; ViewSonic V500 Build/KVT49L) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 8.1.0; Fever_Plus_J) " + onAndroid,
		"Mozilla/5.0 (Linux; Android 12; CUBOT_NOTE 20) " + onAndroid,
		"Mozilla/5.0 (Linux; U; Android 4.4.2; CUBOT GT95 Build/KOT49H) " + onAndroid + " CUBOT/1.0",
		"Dalvik/2.1.0 (Linux; U; Android 15; CPH2551 Build/AP3A.240617.008)",
		// Browsers within apps.
		"Mozilla/5.0 (Linux; Android 16; Pixel 10 Pro XL Build/CP1A.260305.018; wv) " + onAndroid + " MetaIAB Facebook",
		"Mozilla/5.0 (Linux; Android 9; SM-G950F; wv) " + onAndroid + " Viber/12.0.0.4",
		"Mozilla/5.0 (Linux; Android 13; 2201116SI; wv) " + onAndroid + " CamScanner/4.5.0.2305051722",
		"Mozilla/5.0 (Linux; Android 9; MHA-AL00; wv) " + onAndroid + " SogouMSE,SogouMobileBrowser/5.28.7",
		onIPhone + " SogouMobileBrowser/2.1.1",
		onIPhone + " Tumblr/37.1",
		onIPhone + " Instapaper/8.2",
		onIPhone + " ntvAgof (agof={angebot:appntv})",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_4) AppleWebKit/537.36 (KHTML, like Gecko) QtWebEngine/5.6.0 Chrome/45.0 Safari/537.36 Viber",
		// Apps of desktops.
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.115.0 " + electron,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Trae/1.107.1 " + electron,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Notion/2.0.23 " + electron,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Asana/2.1.0 " + electron,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) WhatsApp/2.2017.6 " + electron,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Rocket.Chat/3.8.16 " + electron,
		"Mozilla/5.0 (Windows NT 10.0.18362) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.4.2 " + electron +
			" WindowsStore/10.0 Sonic Slack_SSB/4.4.2",
		// Banks, televisions, browsers ahead of their release, players, and libraries with which servers
		// send events.
		"Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; Banca Caboto s.p.a.; rv:11.0) like Gecko",
		"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/87.0 Safari/537.36 HbbTV/1.6.1 (+DRM; LGE/KTC/BOTECH; 58BSE9503;)",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/99.0 Safari/537.36 Safari Technology Preview",
		"MozacFetch/49.0.20200702190156",
		"CoolerFM/1.0 iPhone/15 +https://cooler.fm",
		"Turtlecast/0.7.7; (Android 13); +https://www.turtlecast.app",
		"Podimo/1.20.1 build 148/Android 29",
		"WhatsApp/2.17.395 Android/6.0 Device/Meizu-M5_Note",
		"node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
		"make-fetch-happen/13.0.0",
	} {
		require.Empty(t, r.Classify(Request{UserAgent: []byte(agent)}), agent)
	}
}

// A program that says what it is, or names a page about itself, is one, also if no list has its
// name.
func TestSelfDeclared(t *testing.T) {
	t.Parallel()
	r := rules(t)
	for agent, want := range map[string]string{
		"QuuxBot/1.0": "bot",
		"Mozilla/5.0 (Linux; Android 13; Pixel 9 Pro) " + onAndroid + " (compatible; Quuxbot/2.1)": "bot",
		onIPhone + " quux_bot":                              "bot",
		"Mozilla/5.0 (compatible; Quuxspider; Android)":     "spider",
		"quux web crawl 2":                                  "crawler",
		"Quux link preview":                                 "preview",
		"Mozilla/5.0 (Windows NT 10.0) Quux URL-Fetcher/1":  "fetcher",
		"Quux URL Monitor":                                  "monitor",
		"quux-security-scan":                                "scanner",
		"Quux Virus Scanner":                                "scanner",
		"Mozilla/5.0 (compatible; Quux/1.0; scanning)":      "scanner",
		"Quux/3.1 (+https://quux.example/about)":            "page",
		"Mozilla/5.0 (compatible; Quux; +http://quux.test)": "page",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessEdg/140.0 Safari/537.36": "headless browser",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Cypress/13.3 " +
			electron: "headless browser",
		"Mozilla/5.0 (Linux; Android 4.1; Nexus) AppleWebKit/537 (KHTML, like Gecko) google-speakr Safari/537": "preview",
		"Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; mailto:support@bsky.app)":                                "preview",
		"Rocket.Chat/6.5":       "preview",
		"Nextcloud Server Quux": "preview",
		"Mozilla/5.0 (X11; Linux x86_64) Chrome/109.0 Safari/537.36 CloudflareObservatory/1.0": "monitor",
		"Mozilla/5.0 (X11; Linux x86_64; Google Page Speed Insights) Chrome/41 Safari/537.36":  "monitor",
		"curl/8.14.1": "",
	} {
		got := r.Classify(Request{UserAgent: []byte(agent)})
		require.Equal(t, want, strings.TrimPrefix(got, declaredPrefix), agent)
	}
	for _, d := range declarations {
		require.LessOrEqual(t, len(d.rule), event.MaxBotRuleBytes)
		require.Equal(t, strings.ToLower(string(d.word)), string(d.word))
	}
}
