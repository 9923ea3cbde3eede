package history

import (
	"math"
	"time"

	"lodestone/pkg/event"
)

// usualTime is what half of the views of a page last at most, at the usual pace.
const usualTime = 15 * time.Second

// stops are the weights of the pages of the guide's first edition after which readers stop: most do in its middle.
var stops = []float64{2, 2, 1.5, 1.5, 2, 4, 5, 2, 1, 0.5, 0.5}

// read plays a session that begins at a time. It returns when the document was finished, zero if it was not.
func (d *drawer) read(l *link, at time.Time) (finished time.Time) {
	s := d.newSession(l, at)
	if s == nil {
		return time.Time{}
	}
	count := pages(l.document, s.version)
	to, ends := count, d.ends(l, s)
	if !ends {
		to = d.stop(l, s, count)
	}
	for page := 1; page <= to; page++ {
		at = d.turn(s, page, at)
		if page > 2 && d.chance(0.05) { // turns back
			at = d.turn(s, page-1, at)
		}
	}
	share := 0.07
	if ends {
		share = 0.34
	}
	if d.chance(share) {
		at = d.download(s, at)
	}
	if !d.end(s) || !ends {
		return time.Time{}
	}
	return at
}

// lookUp plays a session that looks at a few pages again.
func (d *drawer) lookUp(l *link, at time.Time) {
	s := d.newSession(l, at)
	if s == nil {
		return
	}
	at = d.turn(s, 1, at)
	count := pages(l.document, s.version)
	for range 1 + d.random.IntN(3) {
		at = d.turn(s, 2+d.random.IntN(count-1), at)
	}
	if d.chance(0.2) {
		d.download(s, at)
	}
	d.end(s)
}

// newSession opens a link at a time, or returns nil if that is not within the plan.
func (d *drawer) newSession(l *link, at time.Time) *session {
	if !at.After(l.at) || !at.Before(d.until) {
		return nil
	}
	return &session{at: at, link: l, visitor: l.person.visitor, version: d.version(l.document, at)}
}

// end adds a session, unless it is not over yet.
func (d *drawer) end(s *session) bool {
	if d.chance(0.04) { // the browser got no answer to the first of its messages
		for _, a := range s.events[:min(3, len(s.events))] {
			a.again = true
		}
	}
	if s.visitor.mobile && d.chance(0.05) { // was without a network, and sends everything later
		late := d.between(20*time.Minute, 6*time.Hour)
		for _, a := range s.events {
			a.received = a.received.Add(late)
		}
	}
	if !s.last().Add(time.Minute).Before(d.until) {
		return false
	}
	d.sessions = append(d.sessions, s)
	return true
}

// ends decides whether someone reads to the last page. The second edition keeps more of them, and telephones fewer.
func (d *drawer) ends(l *link, s *session) bool {
	share := campaigns[l.person.campaign].ends
	if l.document == worksheet {
		share += (1 - share) * 0.2
	}
	if l.document == guide && s.version > 1 {
		share += (1 - share) * 0.3 * min(1, 2*share)
	}
	if s.visitor.mobile {
		share *= 0.8
	}
	return d.chance(share)
}

// stop returns the page after which someone stops, before the last one.
func (d *drawer) stop(l *link, s *session, count int) int {
	if campaigns[l.person.campaign].pace < 0.5 && d.chance(0.6) {
		return 1 + d.random.IntN(2) // not what they looked for
	}
	if l.document == guide && s.version == 1 {
		return 1 + d.pick(count-1, func(i int) float64 { return stops[i] })
	}
	return 1 + d.random.IntN(count-1)
}

// turn adds a view of a page, and returns when it ended.
func (d *drawer) turn(s *session, page int, at time.Time) time.Time {
	pace := campaigns[s.link.person.campaign].pace
	if s.visitor.mobile {
		pace *= 0.85
	}
	seconds := usualTime.Seconds() * pace * math.Exp(0.75*d.random.NormFloat64())
	duration := time.Duration(min(max(seconds, 0.4), 400)*1000) * time.Millisecond
	left := at.Add(duration)
	s.events = append(s.events, &action{
		kind: event.PageViewed, at: at, page: page, duration: duration, received: left.Add(d.between(20*time.Millisecond, 2*time.Second)),
	})
	return left.Add(d.between(50*time.Millisecond, 900*time.Millisecond))
}

// download adds a click on download and, for most, the end of it, and returns when it was over.
func (d *drawer) download(s *session, at time.Time) time.Time {
	add := func(kind event.Type) {
		s.events = append(s.events, &action{kind: kind, at: at, received: at.Add(d.between(20*time.Millisecond, 400*time.Millisecond))})
	}
	add(event.DownloadStarted)
	at = at.Add(d.between(300*time.Millisecond, 4*time.Second))
	if d.chance(0.88) {
		add(event.DownloadCompleted)
	}
	return at
}

// scan lets a program open a link that was mailed, if the domain has one.
func (d *drawer) scan(l *link) {
	at := l.at.Add(d.between(3*time.Second, 50*time.Second))
	if !l.person.scanned || !d.chance(0.7) || !at.Add(time.Minute).Before(d.until) {
		return
	}
	d.visitors++
	v := &visitor{number: d.visitors, agent: d.one(scanners), bot: true, place: l.person.visitor.place, zone: l.person.visitor.zone}
	d.sessions = append(d.sessions, &session{
		at: at, link: l, visitor: v, version: d.version(l.document, at),
		events: []*action{{kind: event.PageViewed, at: at, received: at}},
	})
}
