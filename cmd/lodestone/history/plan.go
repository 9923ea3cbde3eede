package history

import (
	"cmp"
	"slices"
	"time"

	"lodestone/pkg/event"
)

// plan is what happens, all of it in order of time.
type plan struct {
	from, until time.Time
	out         [documents][]time.Time // when each version of each document came out

	views       []*view
	submissions []*submission
	links       []*link
	sessions    []*session
}

// visitor is a browser, and the person before it.
type visitor struct {
	number  int // no other has it
	agent   string
	place   *place
	zone    *time.Location
	mobile  bool
	private bool // asks not to be tracked: there is no address hash, user agent or source of what the browser sends
	bot     bool
}

// person is who has an address.
type person struct {
	visitor  *visitor
	email    string
	campaign int  // by which they came first
	scanned  bool // a program opens the links in their mails
}

// view is one view of a landing page.
type view struct {
	at       time.Time
	visitor  *visitor
	landing  int
	campaign int // of a program: direct
}

// submission is a form that was sent.
type submission struct {
	at         time.Time
	person     *person
	landing    int
	campaign   int
	verifiedAt time.Time // zero: no verification is needed, or there was none
}

// link is an access link.
type link struct {
	at         time.Time
	person     *person
	document   int
	landing    int         // noLanding: of the sales team
	submission *submission // nil: likewise
	source     string      // as in Postgres: mail, form or api
}

// session is one opening of an access link, or one look of a program at it, which is no session to Postgres.
type session struct {
	at      time.Time
	link    *link
	visitor *visitor
	version int // from 1
	events  []*action
}

// action is an event of a session.
type action struct {
	kind     event.Type
	at       time.Time // when it happened
	received time.Time
	page     int
	duration time.Duration
	again    bool // the browser got no answer, and sent it once more
}

// isScan reports whether a program opened the link.
func (s *session) isScan() bool { return s.visitor.bot }

// last returns when the last event was received.
func (s *session) last() time.Time {
	end := s.at
	for _, a := range s.events {
		if a.received.After(end) {
			end = a.received
		}
	}
	return end
}

// version returns which version of a document there was at a time.
func (p *plan) version(document int, at time.Time) int {
	n := 0
	for _, out := range p.out[document] {
		if !at.Before(out) {
			n++
		}
	}
	return max(n, 1)
}

// pages returns the number of pages of a version.
func pages(document, version int) int { return len(editions[document][version-1]) }

// share returns the time at a share of the whole.
func (p *plan) share(of float64) time.Time {
	return p.from.Add(time.Duration(of * float64(p.until.Sub(p.from)))).Truncate(time.Minute)
}

// sort puts everything in order of time.
func (p *plan) sort() {
	slices.SortStableFunc(p.views, func(a, b *view) int { return a.at.Compare(b.at) })
	slices.SortStableFunc(p.submissions, func(a, b *submission) int { return a.at.Compare(b.at) })
	slices.SortStableFunc(p.links, func(a, b *link) int { return a.at.Compare(b.at) })
	slices.SortStableFunc(p.sessions, func(a, b *session) int { return a.at.Compare(b.at) })
}

// entry is one record of the log: an event, or a view of a landing page.
type entry struct {
	received time.Time
	session  *session
	action   *action
	view     *view // nil: an event
}

// entries returns what the log has, in the order in which it was received. What was sent twice is there twice.
func (p *plan) entries() []entry {
	var list []entry
	for _, v := range p.views {
		list = append(list, entry{received: v.at, view: v})
	}
	for _, s := range p.sessions {
		for _, a := range s.events {
			list = append(list, entry{received: a.received, session: s, action: a})
			if a.again {
				list = append(list, entry{received: a.received.Add(4 * time.Second), session: s, action: a})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.received.UnixMilli(), b.received.UnixMilli()) })
	return list
}
