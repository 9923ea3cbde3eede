// Package bot tells crawlers, link scanners and other programs that open links by themselves from
// people. Plain HTTP libraries are none of them: servers send events too.
package bot

import (
	"bytes"
	"net/http"
)

// Request is the input of a classification. The byte slices are headers of the request, nil if
// absent.
type Request struct {
	UserAgent  []byte
	Head       bool   // the method is HEAD: no one looked at anything
	SecPurpose []byte // Sec-Purpose, which browsers set when they load ahead of need
	Purpose    []byte // Purpose, or X-Purpose: the same from older browsers
	XMoz       []byte // X-Moz: the same from older Firefox
}

// RequestOf returns the input of a classification from an HTTP request.
func RequestOf(r *http.Request) Request {
	purpose := r.Header.Get("Purpose")
	if purpose == "" {
		purpose = r.Header.Get("X-Purpose")
	}
	return Request{
		UserAgent: []byte(r.UserAgent()), Head: r.Method == http.MethodHead, SecPurpose: []byte(r.Header.Get("Sec-Purpose")),
		Purpose: []byte(purpose), XMoz: []byte(r.Header.Get("X-Moz")),
	}
}

// Rules are all rules together. They are safe for concurrent use.
type Rules struct {
	crawlers *Crawlers
	words    starts // of the words of this package
}

// NewRules reads the list of crawlers. It takes some milliseconds.
func NewRules() (*Rules, error) {
	crawlers, err := NewCrawlers()
	if err != nil {
		return nil, err
	}
	r := &Rules{crawlers: crawlers}
	for _, list := range [][]declaration{mailScanners, declarations} {
		for _, d := range list {
			r.words.add(d.word)
		}
	}
	return r, nil
}

// Classify returns the name of the first rule that takes the sender for a program, or "". Who it
// is comes before what it does: mail-scanner:…, crawler:…, self-declared:…, prefetch, head.
func (r *Rules) Classify(q Request) string {
	if len(q.UserAgent) > maxScanned {
		q.UserAgent = q.UserAgent[:maxScanned]
	}
	var (
		lower [maxScanned]byte
		agent []byte // empty if it has no word
	)
	if r.hasWord(q.UserAgent) {
		agent = lowered(&lower, q.UserAgent)
	}
	if rule := declared(agent, mailScanners); rule != "" {
		return rule
	}
	if rule := r.crawlers.Classify(q); rule != "" {
		return rule
	}
	if rule := declared(agent, declarations); rule != "" {
		return rule
	}
	switch {
	case prefetch(q):
		return "prefetch"
	case q.Head:
		return "head"
	default:
		return ""
	}
}

// hasWord reports whether a user agent may have a word of a list, as next to none of a person's
// has: it looks at each place once, while looking for one word after another takes ten times as
// long.
func (r *Rules) hasWord(agent []byte) bool {
	last := uint32(0) // bytes, letters of them in lower case
	for i, b := range agent {
		last = last<<8 | uint32(b|' ')
		if !r.words.has(last) || i+1 < minLiteral {
			continue
		}
		if rest := agent[i+1-minLiteral:]; begins(rest, mailScanners) || begins(rest, declarations) {
			return true
		}
	}
	return false
}

// maxScanned bounds the part of a user agent that is classified. As much of one is stored.
const maxScanned = 512

// mailScanners are words in the user agents of programs that open what is in a mail before, or in
// the place of, its reader. Facts:
//
//   - GoogleImageProxy: Gmail's, "… Firefox/11.0 (via ggpht.com GoogleImageProxy)".
//   - YahooMailProxy: Yahoo's; it names its own page,
//     help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html.
//   - Barracuda Sentinel (EE): in the lists of mailing services (Braze's documentation on bot
//     clicks) and of Matomo's device detector; campus.barracuda.com, "Unwanted link clicks", says
//     that it clicks.
//   - Microsoft Office Existence Discovery: Office asks whether a link leads anywhere, by HEAD.
//   - Proofpoint, Mimecast, Cisco Secure Email: seen with their names now and then by those who
//     send mail.
//
// Most scanners, among them Outlook's Safe Links, come as a common browser and cannot be recognised
// by any header. No person's browser has one of these words.
var mailScanners = []declaration{
	{[]byte("googleimageproxy"), "mail-scanner:GoogleImageProxy", anyWord},
	{[]byte("yahoomailproxy"), "mail-scanner:YahooMailProxy", anyWord},
	{[]byte("barracuda"), "mail-scanner:Barracuda", anyWord},
	{[]byte("microsoft office existence discovery"), "mail-scanner:Microsoft Office", anyWord},
	{[]byte("proofpoint"), "mail-scanner:Proofpoint", anyWord},
	{[]byte("mimecast"), "mail-scanner:Mimecast", anyWord},
	{[]byte("ciscosecureemail"), "mail-scanner:Cisco Secure Email", anyWord},
}

// lowered returns a user agent of at most maxScanned bytes in lower case, with blanks in the place
// of the device.
func lowered(into *[maxScanned]byte, agent []byte) []byte {
	n := copy(into[:], agent)
	for i, c := range into[:n] {
		if c >= 'A' && c <= 'Z' {
			into[i] = c + 'a' - 'A'
		}
	}
	from, to := deviceOf(agent)
	for i := from; i < to; i++ {
		into[i] = ' '
	}
	return into[:n]
}

// prefetch reports whether a browser loads a page ahead of need. The forms:
//
//   - Sec-Purpose: prefetch, prefetch;prerender, prefetch;anonymous-client-ip (Fetch standard and
//     the Prefetch and Prerendering drafts of the W3C's web incubator group; Chromium, Firefox).
//   - Purpose: prefetch (Chromium before that), X-Purpose: preview (Safari's Top Sites).
//   - X-Moz: prefetch (Firefox before 115).
func prefetch(q Request) bool {
	first, _, _ := bytes.Cut(q.SecPurpose, []byte{';'})
	return is(first, "prefetch") || is(q.Purpose, "prefetch") || is(q.Purpose, "preview") || is(q.XMoz, "prefetch")
}

func is(value []byte, word string) bool {
	value = bytes.TrimSpace(value)
	return len(value) == len(word) && bytes.EqualFold(value, []byte(word))
}
