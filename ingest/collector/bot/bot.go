// Package bot tells crawlers, link scanners and other programs that open links by themselves from
// people. Plain HTTP libraries are none of them: servers send events too.
package bot

// Request is what a classification looks at. The bytes are headers of the request, nil where it
// has none.
type Request struct {
	UserAgent  []byte
	Head       bool   // the method is HEAD: nobody looked at anything
	SecPurpose []byte // Sec-Purpose, which browsers set when they load ahead of need
	Purpose    []byte // Purpose, or X-Purpose: the same from older browsers
	XMoz       []byte // X-Moz: the same from older Firefox
}

// Rules are all rules together. They are safe for concurrent use.
type Rules struct {
	crawlers *Crawlers
	seen     memory
}

// NewRules reads the list of crawlers. It takes some milliseconds.
func NewRules() (*Rules, error) {
	crawlers, err := NewCrawlers()
	if err != nil {
		return nil, err
	}
	return &Rules{crawlers, newMemory()}, nil
}

// Classify returns the name of the first rule that takes the sender for a program, or "". Who it
// is comes before what it does: mail-scanner:…, crawler:…, prefetch, head.
func (r *Rules) Classify(q Request) string {
	rule, slot := r.seen.recall(q.UserAgent)
	if slot != nil {
		if rule = mailScanner(q.UserAgent); rule == "" {
			rule = r.crawlers.Classify(q)
		}
		slot.remember(q.UserAgent, rule)
	}
	if rule != "" {
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
