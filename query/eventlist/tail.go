package eventlist

import (
	"bytes"
	"slices"
	"sort"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// Most pages are of what happened last. So the newest events of an account are remembered whole, and a page that lies among
// them is put together here, by the filter's own words in Go instead of in SQL.

// recalled is an event that is remembered, with what it can be filtered by.
type recalled struct {
	Event
	magnet uuid.UUID
	kind   event.Type
	bot    bool
	stored int64 // Unix milliseconds
}

// tail is the newest events of an account. It does not change once it is in a view.
type tail struct {
	events []*recalled // in the order of lists
	from   time.Time   // every event that was created at it or after it is among them; zero: every one
}

// plus returns the tail with more events, which are all there are of those that were created at a time or after it. It is cut
// to so many if there are twice as many.
func (t tail) plus(more []*recalled, from time.Time, length int) tail {
	if from.Before(t.from) {
		from = t.from
	}
	sum := tail{slices.Concat(t.events, more), from}
	slices.SortFunc(sum.events, func(a, b *recalled) int { return a.Position.compare(b.Position) })
	sum = sum.cut()
	if len(sum.events) >= 2*length {
		sum.from = sum.events[length].Position.CreatedAt.Add(time.Millisecond) // of those at the same time some may be cut off
		sum = sum.cut()
	}
	return sum
}

// cut returns the tail without what was created before from.
func (t tail) cut() tail {
	n := sort.Search(len(t.events), func(i int) bool { return t.events[i].Position.CreatedAt.Before(t.from) })
	return tail{slices.Clone(t.events[:n]), t.from}
}

// only returns the tail without the events of months that are not kept. They are not among the events of a tail any more, whatever its from says.
func (t tail) only(kept func(month uint32) bool) tail {
	for _, e := range t.events {
		if !kept(monthOf(e.Position.CreatedAt)) {
			t.events = slices.DeleteFunc(slices.Clone(t.events), func(e *recalled) bool { return !kept(monthOf(e.Position.CreatedAt)) })
			return t
		}
	}
	return t
}

// page returns the first events of a list, or the first ones after a position, and whether these are as many as the limit or all there are.
func (t tail) page(f Filter, after *Position, limit int64) (list []Event, enough bool) {
	b := f.bounds()
	events := t.events
	if after != nil {
		events = events[sort.Search(len(events), func(i int) bool { return events[i].Position.compare(*after) > 0 }):]
	}
	for _, e := range events {
		if int64(len(list)) >= limit {
			break
		}
		if e.isOf(f, b) {
			list = append(list, e.Event)
		}
	}
	return list, int64(len(list)) >= limit || t.has(time.UnixMilli(b.from))
}

// has reports whether every event that was created at a time or after it is in the tail.
func (t tail) has(from time.Time) bool { return t.from.IsZero() || !from.Before(t.from) }

// count returns how many events of a list happened on a day, all of which are in the tail.
func (t tail) count(f Filter, start time.Time) (n int64) {
	b := f.bounds()
	end := start.Add(dayLength)
	first := sort.Search(len(t.events), func(i int) bool { return t.events[i].Position.CreatedAt.Before(end) })
	for _, e := range t.events[first:] {
		if e.Position.CreatedAt.Before(start) {
			break
		}
		if e.isOf(f, b) {
			n++
		}
	}
	return n
}

// isOf reports whether the filter, of which these are the bounds, lets the event through.
func (e *recalled) isOf(f Filter, b bounds) bool {
	created := e.Position.CreatedAt.UnixMilli()
	return created >= b.from && created < b.before && e.stored > b.storedAfter &&
		(f.AccessLinkID == nil || *f.AccessLinkID == e.AccessLinkID) &&
		(f.LeadMagnetID == nil || *f.LeadMagnetID == e.magnet) &&
		(f.Type == 0 || f.Type == e.kind) &&
		(f.Bot == nil || *f.Bot == e.bot)
}

// compare returns a negative number if p comes before q in a list, a positive one if it comes after it.
func (p Position) compare(q Position) int {
	if order := q.CreatedAt.Compare(p.CreatedAt); order != 0 {
		return order
	}
	if order := bytes.Compare(q.TopicID[8:], p.TopicID[8:]); order != 0 { // so ClickHouse has it
		return order
	}
	if order := bytes.Compare(q.TopicID[:8], p.TopicID[:8]); order != 0 {
		return order
	}
	if p.Partition != q.Partition {
		return int(q.Partition) - int(p.Partition)
	}
	switch {
	case p.Offset > q.Offset:
		return -1
	case p.Offset < q.Offset:
		return 1
	}
	return 0
}

// bytes returns about how much memory the tail takes.
func (t tail) bytes() (n int) {
	for _, e := range t.events {
		n += 320 + len(e.Data) + len(e.UserAgent)
	}
	return n
}
