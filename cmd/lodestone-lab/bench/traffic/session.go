package traffic

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// session is one opening of an access link that is going on.
type session struct {
	link   link
	id     uuid.UUID
	agent  []byte
	bot    string
	hash   [16]byte
	origin event.Origin
	late   int64 // ms that its events were held back
	server bool  // its events are sent by a customer's server, under ids of its own

	nextAt   int64 // when the event arrives, Unix ms
	step     event.Type
	page     uint32
	duration uint32 // ms
	pages    uint32 // still to be read
	download bool   // at the end
}

func (g *Generator) newSession(at int64) *session {
	r := g.random
	s := &session{link: g.world.choose(at, r), step: event.PageViewed, page: 1}
	s.id = version7(at, r.Uint64(), r.Uint64())
	visitor := s.link.seed
	if r.IntN(5) == 0 { // the other device
		visitor = mix(visitor, 9)
	}
	a, b := mix(visitor, uint64(at/(24*hourMS))), mix(visitor, uint64(at/(24*hourMS))+1<<32)
	binary.BigEndian.PutUint64(s.hash[:8], a)
	binary.BigEndian.PutUint64(s.hash[8:], b)
	switch kind := r.IntN(1000); {
	case kind < 35:
		b := botAgents[r.IntN(len(botAgents))]
		s.agent, s.bot = []byte(b.agent), b.rule
		s.pages, s.duration, s.nextAt = uint32(r.IntN(2)), 0, at+200
		return s
	case kind < 65: // asked not to be tracked
		s.agent, s.hash = nil, [16]byte{}
	case kind < 90:
		s.server, s.agent = true, serverAgent
	default:
		s.agent = agents.list[agents.weights.pick(fraction(mix(visitor, 7)))]
		s.origin = origins.list[origins.weights.pick(fraction(mix(s.link.seed, 8)))]
	}
	if r.IntN(200) == 0 {
		s.late = min(int64(r.ExpFloat64()*2*hourMS), 47*hourMS)
	}
	// Some leave at once, some read to the end, most stop somewhere.
	pages := float64(s.link.pages)
	switch u := r.Float64(); {
	case u < 0.18:
		s.pages = 0
	case u < 0.45:
		s.pages = uint32(pages - 1)
	default:
		s.pages = uint32(min(r.ExpFloat64()*pages*0.6, pages*1.5))
	}
	s.download = r.Float64() < 0.22
	s.duration = g.look()
	s.nextAt = at + int64(s.duration)
	return s
}

// look returns how long a reader looks at a page, ms: half of them under 14 s, some for minutes.
func (g *Generator) look() uint32 {
	return uint32(min(14_000*math.Exp(1.05*g.random.NormFloat64()), 1_800_000)) + 150
}

// advance moves the session on to its next event, or returns false.
func (g *Generator) advance(s *session) bool {
	r := g.random
	switch {
	case s.step == event.DownloadStarted && r.IntN(12) != 0:
		s.step = event.DownloadCompleted
		s.nextAt += 300 + int64(r.ExpFloat64()*2500)
		return true
	case s.step != event.PageViewed:
		return false
	case s.pages > 0:
		s.pages--
		if r.IntN(12) == 0 && s.page > 1 { // back
			s.page--
		} else {
			s.page = s.page%max(s.link.pages, 1) + 1
		}
		if s.bot == "" {
			s.duration = g.look()
		}
		s.nextAt += int64(s.duration) + 30
		return true
	case s.download:
		s.step, s.duration, s.page = event.DownloadStarted, 0, 0
		s.nextAt += 1000 + int64(r.ExpFloat64()*4000)
		return true
	}
	return false
}

// queue is a heap of sessions by the time of their next event, then by their ids, so that the order
// is one.
type queue []*session

// Len, Less, Swap, Push and Pop are for package heap.
func (q *queue) Len() int { return len(*q) }

func (q *queue) Less(i, j int) bool {
	a, b := (*q)[i], (*q)[j]
	return a.nextAt < b.nextAt || a.nextAt == b.nextAt && bytes.Compare(a.id[:], b.id[:]) < 0
}

func (q *queue) Swap(i, j int) { (*q)[i], (*q)[j] = (*q)[j], (*q)[i] }
func (q *queue) Push(s any)    { *q = append(*q, s.(*session)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	*q = (*q)[:last]
	return s
}
