package stream

import "strings"

// otherAgent is the name of everything that is not in the tables below. The list's own names may
// repeat any text of a user agent, and clients can make up any number of those.
const otherAgent = "Other"

// browsers has the names of the list, by the tidy name: one for the forms of a browser on phones,
// tablets and desktops.
var browsers = byListedName(map[string][]string{
	"Chrome":         {"Chrome", "Chrome Mobile", "Chrome Mobile iOS", "Chromium", "Chrome Frame", "HeadlessChrome"},
	"Chrome WebView": {"Chrome Mobile WebView"},
	"Safari":         {"Safari", "Mobile Safari"},
	"Safari WebView": {"Mobile Safari UI/WKWebView"},
	"Firefox": {"Firefox", "Firefox Mobile", "Firefox iOS", "Firefox Beta",
		"Firefox Alpha", "Firefox Focus", "Klar"},
	"Edge":              {"Edge", "Edge Mobile"},
	"Internet Explorer": {"IE", "IE Mobile", "IE Large Screen"},
	"Opera":             {"Opera", "Opera Mobile", "Opera Tablet", "Opera Neon", "Opera Coast", "Opera Touch", "Opera GX"},
	"Opera Mini":        {"Opera Mini"},
	"Samsung Internet":  {"Samsung Internet"},
	"Android Browser":   {"Android"},
	"Amazon Silk":       {"Amazon Silk"},
	"Brave":             {"Brave"},
	"Coc Coc":           {"Coc Coc"}, //nolint:dupword // so it is called
	"DuckDuckGo":        {"DuckDuckGo", "DuckDuckGo Mobile"},
	"Ecosia":            {"Ecosia iOS", "Ecosia Android"},
	"Huawei Browser":    {"Huawei Browser"},
	"Maxthon":           {"Maxthon", "MyIE2"},
	"Mi Browser":        {"MiuiBrowser", "Mint Browser"},
	"Quark":             {"Quark"},
	"QQ Browser":        {"QQ Browser", "QQ Browser Mobile", "QQ Browser Mini"},
	"UC Browser":        {"UC Browser"},
	"Vivaldi":           {"Vivaldi"},
	"Whale":             {"Whale"},
	"Yandex Browser":    {"Yandex Browser", "YaBrowser"},
	"Apple Mail":        {"Apple Mail"},
	"Outlook":           {"Outlook", "MacOutlook", "Windows Live Mail"},
	"Thunderbird":       {"Thunderbird"},
	"Electron":          {"Electron"},
	"Facebook":          {"Facebook", "Facebook Messenger"},
	"Google app":        {"Google"},
	"Instagram":         {"Instagram"},
	"LINE":              {"LINE"},
	"LinkedIn":          {"LinkedIn"},
	"Pinterest":         {"Pinterest"},
	"Slack":             {"Slack Desktop Client"},
	"Snapchat":          {"Snapchat"},
	"Twitter":           {"Twitter"},
})

// systems are those of the list, by the tidy name.
var systems = byListedName(map[string][]string{
	"Windows":       {"Windows"},
	"Windows Phone": {"Windows Phone", "Windows Mobile"},
	"macOS":         {"Mac OS X", "Mac OS"},
	"iOS":           {"iOS"},
	"tvOS":          {"tvOS", "ATV OS X"},
	"watchOS":       {"WatchOS"},
	"Android":       {"Android"},
	"ChromeOS":      {"Chrome OS"},
	"Linux": {
		"Linux", "Ubuntu", "Debian", "Fedora", "Red Hat", "CentOS", "SUSE", "Gentoo", "Slackware",
		"Mandriva", "PCLinuxOS", "VectorLinux",
		"Puppy", "Linux Mint", "Mageia", "Arch Linux", "Kubuntu", "Xubuntu", "Raspbian",
	},
	"BSD":        {"FreeBSD", "OpenBSD", "NetBSD", "BSD"},
	"Solaris":    {"Solaris"},
	"Tizen":      {"Tizen"},
	"KaiOS":      {"KaiOS", "KAIOS"},
	"webOS":      {"webOS", "Web0S"},
	"Firefox OS": {"Firefox OS"},
	"BlackBerry": {"BlackBerry OS", "BlackBerry Tablet OS"},
	"Symbian":    {"Symbian OS", "Symbian^3", "Symbian^3 Anna", "Symbian^3 Belle"},
})

func byListedName(lists map[string][]string) map[string]string {
	tidy := map[string]string{}
	for name, list := range lists {
		for _, from := range list {
			tidy[from] = name
		}
	}
	return tidy
}

// tokens are the words of browsers that the list takes for the browser they are derived from.
var tokens = []struct{ text, name string }{
	{"YaBrowser/", "Yandex Browser"}, {"YaSearchBrowser/", "Yandex Browser"},
	{"YandexSearch/", "Yandex Browser"}, {"Quark/", "Quark"},
}

// ownBrowser returns the name of a browser that the list does not tell from others, or "". Of
// televisions the list has only the standard that they follow.
func ownBrowser(userAgent, family string) string {
	for _, t := range tokens {
		if strings.Contains(userAgent, t.text) {
			return t.name
		}
	}
	switch {
	case family != "HbbTV":
		return ""
	case strings.Contains(userAgent, "Opera/") || strings.Contains(userAgent, "OPR/"):
		return "Opera"
	case strings.Contains(userAgent, "Chrome/"):
		return "Chrome"
	default:
		return ""
	}
}

func tidyBrowser(family string) string {
	if name, ok := browsers[family]; ok {
		return name
	}
	if strings.HasPrefix(family, "Firefox (") { // a version before its release, by its code name
		return "Firefox"
	}
	return otherAgent
}

func tidySystem(family string) string {
	if name, ok := systems[family]; ok {
		return name
	}
	return otherAgent
}
