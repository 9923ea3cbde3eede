// Package traffic makes realistic events from a seed: the same seed and settings give the same
// events, one by one, in the order in which they arrive, in bounded memory and without a look at
// any clock.
//
// What it keeps to, since stores and queries depend on it: few large accounts and many small ones,
// the largest with 4 % of all events; popular lead magnets and forgotten ones; access links that are
// read when they are new, some again much later, and a few that many share; sessions of many pages
// with times like those of readers, downloads, bots, visitors who ask not to be tracked, days and
// nights, events that arrive hours late; real user agents; identifiers as Lodestone makes them
// (UUID version 7, with the time in it, and some of version 4 from other senders).
package traffic

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// Config says how much traffic there is.
type Config struct {
	Seed   uint64
	Events int64         // in the whole span, about; what there is of accounts and links follows from it
	Begin  time.Time     // when the first of them arrives
	Span   time.Duration // in which they arrive
}

// Year returns the traffic of a year from 1 November 2025.
func Year(seed uint64, events int64) Config {
	return Config{Seed: seed, Events: events, Begin: time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC), Span: 365 * 24 * time.Hour}
}

// Generator makes events. It is used by one goroutine.
type Generator struct {
	world   *world
	random  *rand.Rand
	clock   clock
	open    []session // sessions that are going on; an index stays with its session
	free    []int32   // places in open that are not used
	next    queue     // when each of them sends its next event
	begins  int64     // when the next session begins, Unix ms
	scratch []byte    // event data of the last event
}

// New returns a generator. Making the population takes some milliseconds.
func New(c Config) *Generator {
	g := &Generator{world: newWorld(c), random: rand.New(rand.NewPCG(c.Seed, 0x6576656e7473))}
	g.clock = newClock(c, float64(c.Events)/eventsPerSession)
	g.begins = g.clock.after(g.world.begin, g.random)
	return g
}

// Accounts returns the ids of the accounts, the largest first.
func (g *Generator) Accounts() []uuid.UUID { return g.world.ids() }

// Next fills in the next event. There is always one: after the span traffic goes on as before. Data and
// UserAgent are valid until the next call.
func (g *Generator) Next(e *event.Event) {
	for len(g.next) == 0 || g.begins <= g.next[0].at {
		g.begin()
	}
	at, i := g.next[0].at, g.next[0].session
	s := &g.open[i]
	g.write(e, s, at)
	if g.advance(s) {
		g.next[0].at = s.nextAt
		g.next.down(0)
		return
	}
	g.free = append(g.free, i)
	g.next.pop()
}

// begin opens the next session.
func (g *Generator) begin() {
	i := int32(len(g.open))
	if n := len(g.free); n > 0 {
		i, g.free = g.free[n-1], g.free[:n-1]
	} else {
		g.open = append(g.open, session{})
	}
	g.open[i] = g.newSession(g.begins)
	g.next.push(entry{g.open[i].nextAt, i})
	g.begins = g.clock.after(g.begins, g.random)
}

func (g *Generator) write(e *event.Event, s *session, at int64) {
	l := &s.link
	*e = event.Event{
		AccountID: l.account, LeadMagnetID: l.magnet, GenericLinkID: l.generic, AccessLinkID: l.id, SessionID: s.id,
		MagnetVersion: l.version, Type: s.step, IPHash: s.hash, UserAgent: s.agent, Bot: s.bot, ReceivedAt: at,
	}
	e.CreatedAt = at - 20 - g.random.Int64N(120) // on the way
	switch s.step {
	case event.PageViewed:
		e.Page, e.DurationMS = s.page, s.duration
		e.CreatedAt -= int64(s.duration) // it happened when the page came up, and is sent when it goes
		g.scratch = append(g.scratch[:0], `{"page":`...)
		g.scratch = strconv.AppendUint(g.scratch, uint64(s.page), 10)
		g.scratch = append(g.scratch, `,"duration_ms":`...)
		g.scratch = strconv.AppendUint(g.scratch, uint64(s.duration), 10)
		g.scratch = append(g.scratch, '}')
	default:
		g.scratch = append(g.scratch[:0], "{}"...)
	}
	e.Data = g.scratch
	if s.late > 0 { // the device had no network, or the collector no Kafka
		e.CreatedAt -= s.late
	}
	if s.server {
		e.EventID = version4(g.random.Uint64(), g.random.Uint64())
	} else {
		e.EventID = version7(e.CreatedAt, g.random.Uint64(), g.random.Uint64())
	}
}

func version7(ms int64, a, b uint64) (id uuid.UUID) {
	putUint64(id[8:], b&(1<<62-1)|1<<63)
	putUint64(id[:8], uint64(ms)<<16|0x7000|a&0xfff)
	return id
}

func version4(a, b uint64) (id uuid.UUID) {
	putUint64(id[:8], a&^uint64(0xf000)|0x4000)
	putUint64(id[8:], b&(1<<62-1)|1<<63)
	return id
}

func putUint64(b []byte, v uint64) {
	_ = b[7]
	b[0], b[1], b[2], b[3] = byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32)
	b[4], b[5], b[6], b[7] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
}

// mix turns numbers into one that looks random: it stands for a table of what would otherwise be kept.
func mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fraction returns a number from 0 up to, and without, 1.
func fraction(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// clock tells when something happens again: more by day and on weekdays.
type clock struct {
	gap  float64 // ms, on the average
	hour [7 * 24]float64
}

func newClock(c Config, times float64) clock {
	k := clock{gap: float64(c.Span.Milliseconds()) / max(times, 1)}
	mean := 0.0
	for i := range k.hour {
		w := 1 - 0.75*math.Cos(2*math.Pi*(float64(i%24)-3)/24) // quiet at three, busy at fifteen
		if i/24 >= 5 {
			w *= 0.45
		}
		k.hour[i] = w
		mean += w / float64(len(k.hour))
	}
	for i := range k.hour {
		k.hour[i] /= mean
	}
	return k
}

const hourMS = 3_600_000

// after returns a time after t, Unix ms.
func (c *clock) after(t int64, r *rand.Rand) int64 {
	hour := (t/hourMS + 3*24) % (7 * 24) // 1 January 1970 was a Thursday
	return t + int64(r.ExpFloat64()*c.gap/c.hour[hour]+r.Float64())
}
