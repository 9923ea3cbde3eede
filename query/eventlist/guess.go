package eventlist

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// The same lists are asked for again and again, by dashboards above all. So a first page leaves behind where its events
// were, and the next time they are looked for just there, at the same time as the list is counted. That is a guess, never an
// answer: it holds if a full page was found from some time on, or if all days of the list, as counted, were looked at: as a whole, or
// at the times of as many events as they have.

// guess is where the events of a list's first page were when it was last asked for. It does not change.
type guess struct {
	page pageOf
	full bool      // the page was, so that nothing before its last event belongs to it
	at   time.Time // how far the list was looked at
	last time.Time // when its last event happened
	// When they happened, in milliseconds since 1970, the newest first.
	times []int64
}

// pageOf names the first page of a list. Lists of different filters have the same name with the chance of a short hash's
// collision, which makes for a wrong guess.
type pageOf struct {
	list  string
	limit int64
}

func newPageOf(account uuid.UUID, f Filter, limit int64) pageOf {
	f.From = nil // it moves from question to question, and the newest events are the same
	return pageOf{f.digest(account), limit}
}

// guesses are bounded: each takes the place of another one. They are safe for concurrent use.
type guesses struct {
	seed  maphash.Seed
	slots []atomic.Pointer[guess]
}

func newGuesses() *guesses {
	const slots = 4096 // one to four megabytes
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

// keep remembers where the events of a page were found, looking back from a time and first as far as edge, if that can be of use.
func (g *guesses) keep(p pageOf, f Filter, events []Event, edge, newest time.Time, counted tally) {
	if len(events) == 0 {
		return
	}
	made := &guess{page: p, full: int64(len(events)) >= p.limit, at: newest, last: events[len(events)-1].Position.CreatedAt}
	if !made.full && f.From != nil || counted.days == nil && made.last.Before(edge) {
		return // other lists of this name may have more events; and only numbers of days would show that it holds
	}
	made.times = make([]int64, len(events))
	for i := range events {
		made.times[i] = events[i].Position.CreatedAt.UnixMilli()
	}
	if len(made.days()) <= mostDays {
		g.slot(p).Store(made)
	}
}

// days returns the days of the page's events, the newest first, with the times of those events.
func (g *guess) days() (list []day) {
	for _, t := range g.times {
		at := time.UnixMilli(t).UTC()
		if start := at.Truncate(dayLength); len(list) == 0 || !list[len(list)-1].start.Equal(start) {
			list = append(list, day{start: start})
		}
		d := &list[len(list)-1]
		d.times = append(d.times, at)
	}
	return list
}

// drop forgets a guess that did not hold.
func (g *guesses) drop(made *guess) { g.slot(made.page).CompareAndSwap(made, nil) }

// where returns where to look for the page, and whether that is worth it, if one looks from edge on otherwise. It is from
// its last event on, if that is not before edge; else at the times of its events, and on the whole of the days since it was looked at, and of
// the last one of a full page, of which some events may not have been on it.
func (g *guess) where(edge, newest time.Time) (look span, worth bool) {
	if !g.last.Before(edge) {
		return span{from: &g.last}, g.full // the first look finds the few of a list that is not longer
	}
	first, last := minTime(newest, g.at).UTC().Truncate(dayLength), newest.UTC().Truncate(dayLength).Add(dayLength)
	for d := last; !d.Before(first) && len(look.days) <= mostDays; d = d.Add(-dayLength) {
		look.days = append(look.days, day{start: d})
	}
	begin := first
	days := g.days()
	for i, d := range days {
		if !d.start.Before(first) && !d.start.After(last) {
			continue
		}
		if g.full && i == len(days)-1 {
			d.times = nil
		}
		look.days = append(look.days, d)
		begin = minTime(begin, d.start)
	}
	look.from = &begin
	return look, len(look.days) <= mostDays
}

// holds reports whether what was found in a span is the first page of the list, which was counted meanwhile.
func (s span) holds(f Filter, found []Event, counted tally, limit int64) bool {
	full := int64(len(found)) >= limit
	if s.days == nil {
		return full || f.From != nil && !f.From.Before(*s.from)
	}
	if counted.days == nil {
		return false
	}
	back := earliest
	events := map[time.Time]int64{} // found on each day
	for i := range found {
		back = found[i].Position.CreatedAt.UTC().Truncate(dayLength)
		events[back]++
	}
	if !full {
		back = earliest
	}
	return !slices.ContainsFunc(counted.days, func(c day) bool {
		if c.start.Before(back) {
			return false
		}
		i := slices.IndexFunc(s.days, func(d day) bool { return d.start.Equal(c.start) })
		return i < 0 || len(s.days[i].times) > 0 && events[c.start] != c.events
	})
}
