package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lodestone/pkg/timezone"
)

// drawer draws a plan.
type drawer struct {
	*plan
	random   *rand.Rand
	zones    []*time.Location // of places
	visitors int
	people   []*person
	taken    map[string]int // addresses without a number, and how many people have it
	signed   map[signed]bool
}

// signed says that a person sent the form of a landing page.
type signed struct {
	person  *person
	landing int
}

// draw returns the plan of some days up to a time. It depends on nothing but its arguments.
func draw(seed uint64, days int, until time.Time) (*plan, error) {
	until = until.UTC().Truncate(time.Minute)
	d := &drawer{
		plan:   &plan{from: until.AddDate(0, 0, -days), until: until},
		random: rand.New(rand.NewPCG(seed, uint64(days))),
		taken:  map[string]int{}, signed: map[signed]bool{},
	}
	for _, p := range places {
		zone, err := timezone.Load(p.zone)
		if err != nil {
			return nil, fmt.Errorf("find a time zone: %w", err)
		}
		d.zones = append(d.zones, zone)
	}
	d.out = [documents][]time.Time{guide: {d.from, d.share(secondOut)}, worksheet: {d.share(worksheetOut)}}
	d.visit(d.arrivals())
	d.sell()
	d.crawl()
	d.sort()
	return d.plan, nil
}

// arrival is a visitor who comes to a landing page.
type arrival struct {
	at       time.Time
	campaign int
	landing  int
	visitor  *visitor
}

// arrivals returns the visitors of all campaigns, in order of time.
func (d *drawer) arrivals() []arrival {
	var list []arrival
	for day := d.from.Truncate(24*time.Hour).AddDate(0, 0, -1); day.Before(d.until); day = day.AddDate(0, 0, 1) {
		at := float64(day.Add(12*time.Hour).Sub(d.from)) / float64(d.until.Sub(d.from))
		for i := range campaigns {
			c := &campaigns[i]
			for range d.whole(c.isOn(at, day.Weekday())) {
				v := d.newVisitor(c.mobile)
				a := arrival{campaign: i, landing: c.landing, visitor: v, at: d.moment(day, v)}
				if i == search && a.at.After(d.share(worksheetOut)) && d.chance(0.25) {
					a.landing = forWorksheet
				}
				if !a.at.Before(d.from) && a.at.Before(d.until) {
					list = append(list, a)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return a.at.Compare(b.at) })
	return list
}

// whole returns a number of visitors whose mean is n.
func (d *drawer) whole(n float64) int {
	spread := n + d.random.NormFloat64()*math.Sqrt(n)
	return int(max(0, spread) + d.random.Float64())
}

func (d *drawer) chance(share float64) bool { return d.random.Float64() < share }

// between returns a time from a to b.
func (d *drawer) between(a, b time.Duration) time.Duration {
	return a + time.Duration(d.random.Int64N(int64(b-a)+1)).Truncate(time.Millisecond)
}

// pick returns the place in a list of weights.
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

func (d *drawer) newVisitor(mobile float64) *visitor {
	d.visitors++
	home := d.pick(len(places), func(i int) float64 { return places[i].share })
	v := &visitor{number: d.visitors, place: &places[home], zone: d.zones[home], mobile: d.chance(mobile), private: d.chance(0.05)}
	if v.agent = d.one(desktops); v.mobile {
		v.agent = d.one(mobiles)
	}
	return v
}

// moment returns a time of a visitor's day.
func (d *drawer) moment(day time.Time, v *visitor) time.Time {
	hour := d.pick(len(hours), func(i int) float64 { return hours[i] })
	year, month, date := day.Date()
	return time.Date(year, month, date, hour, d.random.IntN(60), d.random.IntN(60), d.random.IntN(1000)*int(time.Millisecond), v.zone).UTC()
}

// later returns a time of a visitor's day, some days after another.
func (d *drawer) later(after time.Time, low, high int, v *visitor) time.Time {
	return d.moment(after.In(v.zone).AddDate(0, 0, low+d.random.IntN(high-low+1)), v)
}

// newPerson gives a visitor an address.
func (d *drawer) newPerson(v *visitor, campaign int) *person {
	list := names[v.place.language]
	first, last := list[0][d.random.IntN(len(list[0]))], list[1][d.random.IntN(len(list[1]))]
	host := mailDomains[d.pick(len(mailDomains), func(i int) float64 { return mailDomains[i].share })]
	local := first + "." + last
	d.taken[local+host.name]++
	if n := d.taken[local+host.name]; n > 1 {
		local += fmt.Sprint(n)
	}
	p := &person{visitor: v, email: local + "@" + host.name, campaign: campaign, scanned: host.scanned}
	d.people = append(d.people, p)
	return p
}

// crawl adds what programs look at.
func (d *drawer) crawl() {
	for day := d.from; day.Before(d.until); day = day.AddDate(0, 0, 1) {
		for range 3 + d.random.IntN(6) {
			d.visitors++
			at, landing := day.Add(d.between(0, 24*time.Hour-time.Second)), d.random.IntN(landings)
			if landing == forWorksheet && at.Before(d.out[worksheet][0]) || !at.Before(d.until) {
				continue
			}
			v := &visitor{number: d.visitors, agent: d.one(crawlers), bot: true, place: &places[0], zone: time.UTC}
			d.views = append(d.views, &view{at: at, visitor: v, landing: landing, campaign: direct})
		}
	}
}
