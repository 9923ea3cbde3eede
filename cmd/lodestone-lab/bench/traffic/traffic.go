// Package traffic makes realistic events from a seed: the same seed and settings give the same
// events, one by one, in the order in which they arrive, in bounded memory and without a look at
// any clock.
//
// What it keeps to, since stores and queries depend on it: few large accounts and many small ones,
// the largest with 4 % of all events; popular lead magnets and forgotten ones; access links that
// are read when they are new, some again much later, and a few that many share; sessions of many
// pages with times like those of readers, downloads, bots, visitors who ask not to be tracked, days
// and nights, events that arrive hours late; real user agents; identifiers as Lodestone makes them
// (UUID version 7, with the time in it, and some of version 4 from other senders).
package traffic

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// Config says how much traffic there is.
type Config struct {
	Seed   uint64
	Events int64         // in the whole span, about; the numbers of accounts and links follow from it
	Begin  time.Time     // when the first of them arrives
	Span   time.Duration // in which they arrive
	// Largest is the share of the largest account, and Magnets how many lead magnets it has; 0: 4 %,
	// and as many as accounts of its size have.
	Largest float64
	Magnets uint64
}

// Year returns the traffic of a year from 1 November 2025.
func Year(seed uint64, events int64) Config {
	return Config{Seed: seed, Events: events, Begin: time.Date(2025, 11, 1, 0, 0, 0, 0,
		time.UTC), Span: 365 * 24 * time.Hour}
}

// Generator makes events. It is used by one goroutine.
type Generator struct {
	world  *world
	random *rand.Rand
	gap    float64 // ms between two sessions, on the average
	open   queue   // sessions that are going on
	begins int64   // when the next session begins, Unix ms
	data   []byte  // event data of the last event
}

// New returns a generator. Making the population takes some milliseconds.
func New(c Config) *Generator {
	g := &Generator{world: newWorld(c), random: rand.New(rand.NewPCG(c.Seed, 0x6576656e7473))}
	g.gap = float64(c.Span.Milliseconds()) * eventsPerSession / max(float64(c.Events), eventsPerSession)
	g.begins = g.after(g.world.begin)
	return g
}

// Accounts returns the ids of the accounts, the largest first.
func (g *Generator) Accounts() (ids []uuid.UUID) {
	for i := range g.world.accounts {
		ids = append(ids, g.world.accounts[i].id)
	}
	return ids
}

// Next fills in the next event. There is always one: after the span traffic goes on as before. Data
// and UserAgent are valid until the next call.
func (g *Generator) Next(e *event.Event) {
	for len(g.open) == 0 || g.begins <= g.open[0].nextAt {
		heap.Push(&g.open, g.newSession(g.begins))
		g.begins = g.after(g.begins)
	}
	s := g.open[0]
	g.write(e, s)
	if g.advance(s) {
		heap.Fix(&g.open, 0)
	} else {
		heap.Pop(&g.open)
	}
}

func (g *Generator) write(e *event.Event, s *session) {
	l := &s.link
	*e = event.Event{
		AccountID: l.account, LeadMagnetID: l.magnet, GenericLinkID: l.generic, AccessLinkID: l.id, SessionID: s.id,
		MagnetVersion: l.version, Type: s.step, IPHash: s.hash, UserAgent: s.agent, Bot: s.bot,
		Origin: s.origin, ReceivedAt: s.nextAt,
	}
	// on the way, or held back: the device had no network, or the collector no Kafka
	e.CreatedAt = s.nextAt - 20 - g.random.Int64N(120) - s.late
	g.data = append(g.data[:0], "{}"...)
	if s.step == event.PageViewed {
		e.Page, e.DurationMS = s.page, s.duration
		e.CreatedAt -= int64(s.duration) // it happened when the page came up, and is sent when it goes
		g.data = fmt.Appendf(g.data[:0], `{"page":%d,"duration_ms":%d}`, s.page, s.duration)
	}
	e.Data = g.data
	e.EventID = version7(e.CreatedAt, g.random.Uint64(), g.random.Uint64())
	if s.server {
		e.EventID[6] = e.EventID[6]&0x0f | 0x40 // a version 4, of random bits
		binary.BigEndian.PutUint32(e.EventID[:], g.random.Uint32())
		binary.BigEndian.PutUint16(e.EventID[4:], uint16(g.random.Uint32()))
	}
}

func version7(ms int64, a, b uint64) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:], uint64(ms)<<16|0x7000|a&0xfff)
	binary.BigEndian.PutUint64(id[8:], b&(1<<62-1)|1<<63)
	return id
}

// mix turns numbers into one that looks random: it stands for a table of what would otherwise be
// stored.
func mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fraction returns a number from 0 up to, and without, 1.
func fraction(x uint64) float64 { return float64(x>>11) / (1 << 53) }

const hourMS = 3_600_000

// after returns the time of the session after t, Unix ms: there are more by day and on weekdays.
func (g *Generator) after(t int64) int64 {
	const weekend, mean = 0.45, (5 + 2*0.45) / 7
	hour := t/hourMS + 3*24                                      // 1 January 1970 was a Thursday
	busy := 1 - 0.75*math.Cos(2*math.Pi*(float64(hour%24)-3)/24) // quiet at three, busy at fifteen
	if hour/24%7 >= 5 {
		busy *= weekend
	}
	return t + int64(g.random.ExpFloat64()*g.gap*mean/busy+g.random.Float64())
}
