package eventlist

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// The same lists are asked for again and again: by a dashboard that is open, by whoever pages back and forth. So each
// page leaves behind where its events were, and the next time they are looked for just there: nothing that came before
// its last event can be among the newest ones, unless events left. That is a guess, which holds or not, never an
// answer: what is found is held against the number of events, which is counted anyway.

// guess is where the events of a page were when it was last asked for. It does not change.
type guess struct {
	page pageOf
	last time.Time   // when the last one was created
	days []time.Time // on which they were, the newest first
}

// pageOf names a page. Lists of different filters have the same name with the chance of a short hash's collision,
// which makes for a wrong guess.
type pageOf struct {
	list  string
	after Position // zero: the first page
	limit int64
}

func newPageOf(account uuid.UUID, f Filter, p *Position, limit int64) pageOf {
	f.From = nil // it moves from question to question, and says nothing of the newest events
	page := pageOf{list: f.digest(account), limit: limit}
	if p != nil {
		page.after = *p
	}
	return page
}

// guesses are bounded: each takes the place of another one. They are safe for concurrent use.
type guesses struct {
	seed  maphash.Seed
	slots []atomic.Pointer[guess]
}

func newGuesses() *guesses {
	const slots = 4096 // two megabytes, with pages of 20
	return &guesses{maphash.MakeSeed(), make([]atomic.Pointer[guess], slots)}
}

func (g *guesses) slot(p pageOf) *atomic.Pointer[guess] {
	return &g.slots[maphash.Comparable(g.seed, p)%uint64(len(g.slots))]
}

// of returns the guess of a page, nil if there is none.
func (g *guesses) of(p pageOf) *guess {
	if made := g.slot(p).Load(); made != nil && made.page == p {
		return made
	}
	return nil
}

// keep remembers where the events of a page are.
func (g *guesses) keep(p pageOf, events []Event) {
	if len(events) == 0 || p.after != (Position{}) && int64(len(events)) < p.limit {
		return // nothing shows later that there are no more
	}
	made := &guess{page: p, last: events[len(events)-1].Position.CreatedAt}
	for i := range events {
		if d := events[i].Position.CreatedAt.Truncate(dayLength); len(made.days) == 0 || !made.days[len(made.days)-1].Equal(d) {
			made.days = append(made.days, d)
		}
	}
	g.slot(p).Store(made)
}

// span returns where to look, and whether it is worth it: from the last event on, if that is no longer back than one looks
// anyway, which is from edge on; and otherwise on the days of then, and those from edge to one after newest, on which new
// events may be.
func (g *guess) span(after *Position, edge, newest time.Time) (span, bool) {
	if !g.last.Before(edge) {
		return span{after: after, from: &g.last}, true
	}
	if after != nil { // numbers of days do not say how many come after it
		return span{}, false
	}
	s := span{from: &g.last}
	for d := newest.Truncate(dayLength).Add(dayLength); !d.Before(edge); d = d.Add(-dayLength) {
		s.days = append(s.days, day{start: d})
	}
	for _, d := range g.days {
		if d.Before(edge) {
			s.days = append(s.days, day{start: d})
		}
	}
	return s, len(s.days) <= mostDays
}

// holds reports whether no others than the events that were found in a span can be the first ones of the list, which was
// counted meanwhile.
func (s span) holds(found []Event, counted tally, limit int64) bool {
	if s.after == nil && int64(len(found)) >= counted.total {
		return true
	}
	if int64(len(found)) < limit {
		return false
	}
	if s.days == nil {
		return true
	}
	if counted.days == nil {
		return false
	}
	needed, _ := choose(counted.days, latest, limit)
	return !slices.ContainsFunc(needed, func(n day) bool {
		return !slices.ContainsFunc(s.days, func(d day) bool { return d.start.Equal(n.start) })
	})
}
