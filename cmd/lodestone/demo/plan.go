package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/timezone"
)

// plan lists the visits of a period.
type plan struct {
	from, until time.Time
	second      time.Time // when the second version comes out
	visits      []*visit
}

// visitor is a browser, and the person before it.
type visitor struct {
	number int // no other has it
	agent  string
	place  *place
	zone   *time.Location
	mobile bool
	bot    bool
}

// visit is one visitor's way to a landing page and, with an address, through its form to the
// document.
type visit struct {
	at       time.Time // of the view of the landing page
	visitor  *visitor
	campaign *campaign
	landing  int
	scripts  bool // counts the view by a script, else by an image, which does not know the campaign

	email    string // "": leaves
	sent     time.Time
	verified time.Time // when the access link was made; zero: the address is not verified
	invited  bool      // has a link of the API, since the form was one too many
	sessions []*session
}

// session is one opening of an access link.
type session struct {
	id      uuid.UUID
	at      time.Time
	visitor *visitor
	version int
	actions []action
	repeats bool // the browser gets no answer to its first message, and sends it again
}

// action is an event of a session.
type action struct {
	kind     event.Type
	at       time.Time
	page     int
	duration time.Duration
}

// end returns when the last event was received.
func (s *session) end() time.Time {
	last := s.actions[len(s.actions)-1]
	return last.at.Add(last.duration)
}

// has reports whether an event of a kind is in the session.
func (s *session) has(kind event.Type) bool {
	for _, a := range s.actions {
		if a.kind == kind {
			return true
		}
	}
	return false
}

// drawer draws a plan.
type drawer struct {
	plan
	random   *rand.Rand
	zones    []*time.Location // of places
	visitors int
}

func newDrawer(seed uint64, from, until time.Time) (*drawer, error) {
	d := &drawer{plan: plan{from: from, until: until, second: until}, random: rand.New(rand.NewPCG(seed, 0))}
	for _, p := range places {
		zone, err := timezone.Load(p.zone)
		if err != nil {
			return nil, fmt.Errorf("find a time zone: %w", err)
		}
		d.zones = append(d.zones, zone)
	}
	return d, nil
}

// drawPresent returns a plan of some readers, and of more visitors who leave, at one time.
func drawPresent(seed uint64, readers int, now time.Time) (*plan, error) {
	d, err := newDrawer(seed, now.AddDate(0, 0, -1), now.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	for i := range readers + readers*3/5 {
		c := &campaigns[d.pick(len(campaigns), func(i int) float64 { return campaigns[i].rate })]
		v := &visit{at: now, visitor: d.newVisitor(c.mobile), campaign: c, landing: c.landing, scripts: d.chance(0.9)}
		if d.visits = append(d.visits, v); i < readers {
			v.email = d.address(v.visitor)
			if v.sent, v.verified = now, now; d.chance(0.08) {
				d.scan(v, now)
			}
			d.read(v, now)
		}
	}
	return &d.plan, nil
}

// drawPast returns a plan of some days up to a time.
func drawPast(seed uint64, days int, until time.Time) (*plan, error) {
	until = until.UTC().Truncate(time.Minute)
	d, err := newDrawer(seed, until.AddDate(0, 0, -days), until)
	if err != nil {
		return nil, err
	}
	whole := until.Sub(d.from)
	d.second = d.from.Add(time.Duration(secondOut * float64(whole))).Truncate(time.Minute)
	for day := d.from.Truncate(24*time.Hour).AddDate(0, 0, -1); day.Before(until); day = day.AddDate(0, 0, 1) {
		at := float64(day.Add(12*time.Hour).Sub(d.from)) / float64(whole)
		for i := range campaigns {
			c := &campaigns[i]
			mean := c.visitors(at, day.Weekday())
			for range int(max(0, mean+d.random.NormFloat64()*math.Sqrt(mean)) + d.random.Float64()) {
				v := d.newVisitor(c.mobile)
				d.visit(&visit{at: d.moment(day, v.zone), visitor: v, campaign: c, landing: c.landing, scripts: true})
			}
		}
		for range 3 + d.random.IntN(6) {
			at := day.Add(d.between(0, 24*time.Hour))
			d.visits = d.within(d.visits, &visit{at: at, visitor: d.newProgram(), campaign: &campaigns[len(campaigns)-1]})
		}
	}
	return &d.plan, nil
}

// within appends a visit that is a part of the plan.
func (d *drawer) within(list []*visit, v *visit) []*visit {
	if v.at.Before(d.from) || !v.at.Add(time.Minute).Before(d.until) {
		return list
	}
	return append(list, v)
}

// visit plays a visit of the past: some send the form, most of these read, and some come back.
func (d *drawer) visit(v *visit) {
	before := len(d.visits)
	if d.visits = d.within(d.visits, v); len(d.visits) == before || !d.chance(v.campaign.signs) {
		return
	}
	sent := v.at.Add(d.between(5*time.Second, 50*time.Second))
	v.email = d.address(v.visitor)
	v.sent, v.verified = sent, sent
	if v.landing == fromWebinar {
		v.verified = time.Time{}
		if at := sent.Add(d.between(30*time.Second, 20*time.Minute)); at.Before(d.until) && d.chance(0.74) {
			v.verified = at
		}
	}
	if v.verified.IsZero() {
		return
	}
	if strings.HasSuffix(v.email, "@"+scannedHost) && d.chance(0.7) {
		d.scan(v, v.verified.Add(d.between(3*time.Second, 50*time.Second)))
	}
	if !d.chance(0.85) {
		return
	}
	at := v.verified.Add(d.between(2*time.Second, 40*time.Second))
	for share := 0.2; d.read(v, at); share = 0.35 {
		if !d.chance(share) {
			return
		}
		at = d.moment(at.In(v.visitor.zone).AddDate(0, 0, 1+d.random.IntN(12)), v.visitor.zone)
	}
}

// address returns an address that no one else has.
func (d *drawer) address(v *visitor) string {
	return fmt.Sprintf("%s.%s%d@%s", d.one(firstNames), d.one(lastNames), v.number, d.one(hosts))
}

// scan lets a program open the link.
func (d *drawer) scan(v *visit, at time.Time) {
	if at.Add(time.Minute).Before(d.until) {
		seen := []action{{kind: event.PageViewed, at: at, page: 1}}
		v.sessions = append(v.sessions, &session{at: at, visitor: d.newProgram(), version: d.version(at), actions: seen})
	}
}

// read adds a session of the person, unless it is not over yet, and reports whether it did.
func (d *drawer) read(v *visit, at time.Time) bool {
	s := &session{at: at, visitor: v.visitor, version: d.version(at), repeats: d.chance(0.1)}
	ends, pace := v.campaign.ends, v.campaign.pace
	if s.version > 1 {
		ends += (1 - ends) * 0.3 * min(1, 2*ends)
	}
	if s.visitor.mobile {
		ends, pace = ends*0.8, pace*0.85
	}
	last, finishes := pages, d.chance(ends)
	switch {
	case finishes:
	case pace < 0.5 && d.chance(0.6): // not what they looked for
		last = 1 + d.random.IntN(2)
	default:
		last = 1 + d.pick(len(stops), func(i int) float64 { return stops[i] })
	}
	turn := func(page int) {
		seconds := min(max(15*pace*math.Exp(0.75*d.random.NormFloat64()), 0.4), 400)
		a := action{event.PageViewed, at, page, time.Duration(seconds*1000) * time.Millisecond}
		s.actions = append(s.actions, a)
		at = at.Add(a.duration + d.between(50*time.Millisecond, 900*time.Millisecond))
	}
	for page := 1; page <= last; page++ {
		if turn(page); page > 2 && d.chance(0.05) { // turns back
			turn(page - 1)
		}
	}
	if finishes && d.chance(0.34) || d.chance(0.07) {
		s.actions = append(s.actions, action{kind: event.DownloadStarted, at: at})
		if d.chance(0.88) {
			done := at.Add(d.between(300*time.Millisecond, 4*time.Second))
			s.actions = append(s.actions, action{kind: event.DownloadCompleted, at: done})
		}
	}
	if !at.After(v.at) || !s.end().Add(time.Minute).Before(d.until) {
		return false
	}
	v.sessions = append(v.sessions, s)
	return true
}

// version returns which version of the guide there is at a time.
func (d *drawer) version(at time.Time) int {
	if at.Before(d.second) {
		return 1
	}
	return 2
}

func (d *drawer) newVisitor(mobile float64) *visitor {
	d.visitors++
	home := d.pick(len(places), func(i int) float64 { return places[i].share })
	v := &visitor{number: d.visitors, place: &places[home], zone: d.zones[home], mobile: d.chance(mobile)}
	if v.agent = d.one(desktops); v.mobile {
		v.agent = d.one(mobiles)
	}
	return v
}

func (d *drawer) newProgram() *visitor {
	d.visitors++
	return &visitor{number: d.visitors, agent: d.one(programs), place: &places[0], bot: true}
}

func (d *drawer) chance(share float64) bool { return d.random.Float64() < share }

// between returns a time from a to b.
func (d *drawer) between(a, b time.Duration) time.Duration {
	return a + time.Duration(d.random.Int64N(int64(b-a))).Truncate(time.Millisecond)
}

// moment returns a time of a day in a zone.
func (d *drawer) moment(day time.Time, zone *time.Location) time.Time {
	hour := d.pick(len(hours), func(i int) float64 { return hours[i] })
	year, month, date := day.Date()
	return time.Date(year, month, date, hour, d.random.IntN(60), d.random.IntN(60), 0, zone).UTC()
}

// pick returns a number below n, by the weights of the numbers.
func (d *drawer) pick(n int, weight func(i int) float64) int {
	sum := 0.0
	for i := range n {
		sum += weight(i)
	}
	left := d.random.Float64() * sum
	for i := range n {
		if left -= weight(i); left < 0 {
			return i
		}
	}
	return n - 1
}

// one returns one of some texts, the first ones more often.
func (d *drawer) one(list []string) string {
	return list[d.pick(len(list), func(i int) float64 { return 1 / float64(i+1) })]
}
