package bot

import "bytes"

// declaredPrefix begins the names of this file's rules.
const declaredPrefix = "self-declared:"

// A sense says in which use a word declares a program.
type sense int

const (
	anyWord sense = iota
	botWord
	previewWord
	fetchWord
	scanWord
	serverWord
	pageWord
)

// declaration is a word, in lower case, and the rule of those who have it in its sense.
type declaration struct {
	word  []byte
	rule  string
	sense sense
}

// declarations are words by which programs say of themselves what they are. A list
// of names knows the programs of yesterday; these words also recognise those of tomorrow.
var declarations = []declaration{
	{[]byte("bot"), declaredPrefix + "bot", botWord},
	{[]byte("crawl"), declaredPrefix + "crawler", anyWord},
	{[]byte("spider"), declaredPrefix + "spider", anyWord},
	{[]byte("scrape"), declaredPrefix + "scraper", anyWord},
	{[]byte("scraping"), declaredPrefix + "scraper", anyWord},
	{[]byte("preview"), declaredPrefix + "preview", previewWord},
	{[]byte("fetch"), declaredPrefix + "fetcher", fetchWord},
	{[]byte("monitor"), declaredPrefix + "monitor", anyWord},
	{[]byte("synthetic"), declaredPrefix + "monitor", anyWord},
	{[]byte("healthcheck"), declaredPrefix + "monitor", anyWord},
	{[]byte("health-check"), declaredPrefix + "monitor", anyWord},
	{[]byte("pagespeed"), declaredPrefix + "monitor", anyWord},
	{[]byte("page speed insights"), declaredPrefix + "monitor", anyWord},
	{[]byte("cloudflareobservatory"), declaredPrefix + "monitor", anyWord},
	{[]byte("scan"), declaredPrefix + "scanner", scanWord},
	{[]byte("linkresolver"), declaredPrefix + "scanner", anyWord},
	{[]byte("link resolver"), declaredPrefix + "scanner", anyWord},
	{[]byte("headless"), declaredPrefix + "headless browser", anyWord},
	{[]byte("cypress/"), declaredPrefix + "headless browser", anyWord},
	{[]byte("google-speakr"), declaredPrefix + "preview", anyWord},
	{[]byte("cardyb/"), declaredPrefix + "preview", anyWord},
	{[]byte("rocket.chat/"), declaredPrefix + "preview", serverWord},
	{[]byte("nextcloud server"), declaredPrefix + "preview", anyWord},
	{[]byte("zulipurl"), declaredPrefix + "preview", anyWord},
	{[]byte("notionembedder"), declaredPrefix + "preview", anyWord},
	{[]byte("xing-contenttab"), declaredPrefix + "preview", anyWord},
	{[]byte("+http://"), declaredPrefix + "page", pageWord},
	{[]byte("+https://"), declaredPrefix + "page", pageWord},
	{[]byte("+www."), declaredPrefix + "page", pageWord},
}

// declared returns the rule of the first word of a list that a user agent has, or "". The user
// agent is in lower case, and without the device.
func declared(agent []byte, list []declaration) string {
	if len(agent) == 0 {
		return ""
	}
	for i := range list {
		d := &list[i]
		for at := 0; ; at++ {
			found := bytes.Index(agent[at:], d.word)
			if found < 0 {
				break
			}
			at += found
			if d.sense.holds(agent, at, at+len(d.word)) {
				return d.rule
			}
		}
	}
	return ""
}

// begins reports whether a text begins with a word of a list, in letters of either case.
func begins(text []byte, list []declaration) bool {
	for i := range list {
		if word := list[i].word; word[0] == text[0]|' ' && len(word) <= len(text) && bytes.EqualFold(text[:len(word)], word) {
			return true
		}
	}
	return false
}

// holds reports whether a word, from and to, has the sense. It calls no function by a variable, so
// that the user agent stays on the stack.
func (s sense) holds(agent []byte, from, to int) bool {
	switch s {
	case botWord:
		return isBot(agent, from, to)
	case previewWord:
		return isPreview(agent[:from])
	case fetchWord:
		return isFetcher(agent[:from])
	case scanWord:
		return isScanner(agent, from, to)
	case serverWord:
		return !bytes.Contains(agent, []byte("electron/")) // the app of the same name
	case pageWord:
		return namesItsPage(agent)
	default:
		return true
	}
}

// isBot takes the word at the end of a word alone: Caboto is a bank, BOTECH makes televisions.
// Cubot makes phones, and an Angebot is an offer.
func isBot(agent []byte, from, to int) bool {
	if to < len(agent) && agent[to] == 's' {
		to++
	}
	return !isLetter(agent, to) && !endsWith(agent[:from], "cu", "ange")
}

// isPreview leaves out browsers ahead of their release.
func isPreview(before []byte) bool {
	return !endsWith(before, "firefox ", "firefox", "technology ", "developer ", "safari ", "edge ", "opera ")
}

// isFetcher leaves out libraries with which servers send events, and Firefox on Android.
func isFetcher(before []byte) bool {
	return !endsWith(before, "mozac", "node-", "node", "make-", "minipass-", "cross-", "undici-", "whatwg-",
		"isomorphic-", "react-native-")
}

func endsWith(text []byte, ends ...string) bool {
	for _, end := range ends {
		if len(text) >= len(end) && string(text[len(text)-len(end):]) == end {
			return true
		}
	}
	return false
}

// isScanner takes the word at the beginning of a word, and scanner in any: Scandinavia is a place,
// and CamScanner and its like are apps that photograph paper.
func isScanner(agent []byte, from, to int) bool {
	switch {
	case bytes.HasPrefix(agent[to:], []byte("ner")):
		return !endsWith(agent[:from], "cam", "qr", "code", "doc", "document ", "pdf")
	case bytes.HasPrefix(agent[to:], []byte("ning")):
		return true
	default:
		return !isLetter(agent, from-1) && !isLetter(agent, to)
	}
}

// namesItsPage leaves out players of podcasts and apps of phones, which name the page of the app,
// and libraries.
func namesItsPage(agent []byte) bool {
	if bytes.Contains(agent, []byte("compatible")) {
		return true
	}
	for _, of := range []string{"podcast", "iphone", "android", "ios/", "darwin", "node-fetch/", "node-superagent/"} {
		if bytes.Contains(agent, []byte(of)) {
			return false
		}
	}
	return true
}

func isLetter(text []byte, at int) bool {
	return at >= 0 && at < len(text) && (text[at] >= 'a' && text[at] <= 'z' || text[at] >= 0x80)
}

// deviceOf returns where a browser on Android names the device that it runs on, from and to, or the
// same twice. Makers call their phones and tablets what they like, such as "VR BOT 552", "Expanse"
// or "Spider 8", and "AP3A.240617.008" is a release of Android.
func deviceOf(agent []byte) (from, to int) {
	system := bytes.Index(agent, []byte("Android"))
	if system < 0 {
		return 0, 0
	}
	start := bytes.LastIndexByte(agent[:system], '(')
	if start < 0 || bytes.IndexByte(agent[start:system], ')') >= 0 {
		return 0, 0
	}
	depth := 0
	for to = start; to < len(agent); to++ {
		switch agent[to] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	comment := agent[start:to]
	if bytes.Contains(comment, []byte("compatible")) || bytes.Contains(comment, []byte("http")) {
		return 0, 0 // a program that says who it is, where browsers name a device
	}
	return system + len("Android"), to
}

// isApp reports whether a user agent is that of an app, or of the browser of a phone, which apps
// carry within them. People use those, and a name in it is that of the app, unless the program says
// otherwise.
func isApp(agent []byte) bool {
	for _, of := range []string{"compatible;", "http:", "https:"} {
		if bytes.Contains(agent, []byte(of)) {
			return false
		}
	}
	for _, of := range []string{"Android", "iPhone", "iPad", "iPod", "iOS", "CFNetwork/", "Electron/"} {
		if bytes.Contains(agent, []byte(of)) {
			return true
		}
	}
	return false
}
