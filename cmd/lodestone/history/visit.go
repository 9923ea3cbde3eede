package history

import (
	"time"
)

// visit plays what visitors do: they look at a landing page, some send its form, most of these read, and some come back.
func (d *drawer) visit(arrivals []arrival) {
	for _, a := range arrivals {
		c := &campaigns[a.campaign]
		d.look(a)
		if !d.chance(c.signs) {
			if d.chance(0.1) { // thinks about it, and looks again
				a.at = a.at.Add(d.between(2*time.Minute, 90*time.Minute))
				d.look(a)
			}
			continue
		}
		p := d.newPerson(a.visitor, a.campaign)
		finished := d.sign(p, a)
		if finished.IsZero() || documentOf[a.landing] != guide || !d.chance(0.4) {
			continue
		}
		// Whoever read the guide to its end is sent the worksheet some days later.
		next := arrival{campaign: followUp, landing: forWorksheet, visitor: a.visitor, at: d.later(finished, 3, 9, a.visitor)}
		if !next.at.Before(d.out[worksheet][0]) && next.at.Before(d.until) {
			d.look(next)
			if d.chance(campaigns[followUp].signs) {
				d.sign(p, next)
			}
		}
	}
}

func (d *drawer) look(a arrival) {
	if a.at.Before(d.until) {
		d.views = append(d.views, &view{at: a.at, visitor: a.visitor, landing: a.landing, campaign: a.campaign})
	}
}

// sign sends the form, and reads. It returns when the document was finished, zero if it was not.
func (d *drawer) sign(p *person, a arrival) (finished time.Time) {
	s := &submission{at: a.at.Add(d.between(15*time.Second, 3*time.Minute)), person: p, landing: a.landing, campaign: a.campaign}
	key := signed{p, a.landing}
	if !s.at.Before(d.until) || d.signed[key] {
		return time.Time{}
	}
	d.signed[key] = true
	d.submissions = append(d.submissions, s)
	if a.landing == fromWebinar {
		return d.verify(s)
	}
	// The browser gets a link, and the mailbox another one.
	mailed := d.link(s, s.at, "mail")
	form := d.link(s, s.at.Add(40*time.Millisecond), "form")
	switch {
	case d.chance(0.8):
		finished = d.read(form, s.at.Add(d.between(2*time.Second, 40*time.Second)))
	case d.chance(0.3):
		return d.read(mailed, d.later(s.at, 0, 2, p.visitor))
	default:
		return time.Time{}
	}
	again := form
	if d.chance(0.6) {
		again = mailed
	}
	d.comeBack(again, s.at, finished)
	return finished
}

// verify plays the mail with the question whose address it is, and what follows from the answer.
func (d *drawer) verify(s *submission) (finished time.Time) {
	if !d.chance(0.74) {
		return time.Time{}
	}
	at := s.at.Add(d.between(30*time.Second, 20*time.Minute))
	if d.chance(0.15) {
		at = d.later(s.at, 0, 1, s.person.visitor)
	}
	if !at.After(s.at) || !at.Before(d.until) {
		return time.Time{}
	}
	s.verifiedAt = at
	mailed := d.link(s, at, "mail")
	if !d.chance(0.95) {
		return time.Time{}
	}
	finished = d.read(mailed, at.Add(d.between(time.Second, 20*time.Second)))
	d.comeBack(mailed, at, finished)
	return finished
}

// link adds an access link of a submission, at which a program may look before the person does.
func (d *drawer) link(s *submission, at time.Time, source string) *link {
	l := &link{at: at, person: s.person, document: documentOf[s.landing], landing: s.landing, submission: s, source: source}
	d.links = append(d.links, l)
	if source == "mail" {
		d.scan(l)
	}
	return l
}

// comeBack opens a link again, days later: to go on, or to look something up.
func (d *drawer) comeBack(l *link, since, finished time.Time) {
	share := 0.16
	if finished.IsZero() {
		share = 0.12
	}
	for range 3 {
		if !d.chance(share) {
			return
		}
		at := d.later(since, 1, 12, l.person.visitor)
		if finished.IsZero() {
			finished = d.read(l, at)
		} else {
			d.lookUp(l, at)
		}
		since, share = at, 0.35
	}
}

// sell sends links to people without a form, as a sales team does.
func (d *drawer) sell() {
	at := d.share(salesMail)
	for range max(3, int(d.until.Sub(d.from).Hours()/48)) {
		v := d.newVisitor(0.2)
		l := &link{at: at, person: d.newPerson(v, direct), document: guide, landing: noLanding, source: "api"}
		at = at.Add(time.Second)
		d.links = append(d.links, l)
		d.scan(l)
		if d.chance(0.62) {
			d.comeBack(l, at, d.read(l, d.later(at, 0, 4, v)))
		}
	}
}
