package eventlist

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/query/scope"
)

// A statement costs ClickHouse about 5 ms before it reads anything, and half a millisecond for each part that it looks into. So what
// was read of an account is remembered: for each day, lead magnet, type and bot or not the number of events, as
// projection by_day has them, and the newest events themselves (see tail). Both are exact, since they are remembered
// together with the parts of the table that they were read from, and parts never change:
//
//   - A part that is there still needs not be read again.
//   - A part that was merged from others has their rows. It was if it was never mutated, the parts that are gone lie within
//     it, and their rows make up its own: any other insert within it would have brought more. This needs that nothing takes rows away
//     but mutations and the dropping of partitions, as it is with this table: it has no TTL, and is not deduplicated.
//   - Any other part is new, and is read.
//   - A part that is gone, and not so accounted for, took rows with it, or has others besides it in a new one: its month is forgotten, and read anew.
//
// What is new is read by its parts' names. Parts that are there before the statement and after it were there meanwhile, so the statement has read them.
// Each answer from a view has asked for the parts of the table after its request began: it is what a plain statement
// would have said at that moment.

// number is how many events of a kind an account has on a day.
type number struct {
	magnet uuid.UUID
	kind   event.Type
	bot    bool
	events int64
}

// isOf reports whether the filter, but for its times, lets these events through.
func (n *number) isOf(f Filter) bool {
	return (f.LeadMagnetID == nil || *f.LeadMagnetID == n.magnet) && (f.Type == 0 || f.Type == n.kind) && (f.Bot == nil || *f.Bot == n.bot)
}

// knownDay is what is remembered of a day. It does not change once it is in a view.
type knownDay struct {
	start       time.Time
	first, last time.Time // the earliest and the latest time at which an event of it was stored
	numbers     []number
}

// plus returns the day with more events of it.
func (d *knownDay) plus(more knownDay) knownDay {
	if len(d.numbers) == 0 {
		return more
	}
	sum := knownDay{d.start, minTime(d.first, more.first), maxTime(d.last, more.last), slices.Clone(d.numbers)}
	place := make(map[number]int, len(sum.numbers))
	key := func(n number) number { return number{n.magnet, n.kind, n.bot, 0} }
	for i, n := range sum.numbers {
		place[key(n)] = i
	}
	for _, n := range more.numbers {
		if i, has := place[key(n)]; has {
			sum.numbers[i].events += n.events
		} else {
			sum.numbers = append(sum.numbers, n)
		}
	}
	return sum
}

// events returns how many there are on the day.
func (d *knownDay) events() (n int64) {
	for i := range d.numbers {
		n += d.numbers[i].events
	}
	return n
}

// knownMonth is what is remembered of a month, and the parts that it was read from.
type knownMonth struct {
	parts []scope.Part
	days  []knownDay
}

// plus returns the month with more days, or more of its days.
func (m *knownMonth) plus(days []knownDay) knownMonth {
	sum := knownMonth{m.parts, slices.Clone(m.days)}
	for _, d := range days {
		if i := slices.IndexFunc(sum.days, func(o knownDay) bool { return o.start.Equal(d.start) }); i >= 0 {
			sum.days[i] = sum.days[i].plus(d)
		} else {
			sum.days = append(sum.days, d)
		}
	}
	return sum
}

// events returns how many there are in the month.
func (m *knownMonth) events() (n int64) {
	for i := range m.days {
		n += m.days[i].events()
	}
	return n
}

// unread returns which of the parts that a month consists of now are not known. It reports false if what is known is not true any more.
func (m *knownMonth) unread(now []scope.Part) (fresh []scope.Part, ok bool) {
	gone := map[scope.Part]bool{}
	for _, p := range m.parts {
		gone[p] = true
	}
	for _, p := range now {
		if gone[p] {
			delete(gone, p)
		} else {
			fresh = append(fresh, p)
		}
	}
	fresh = slices.DeleteFunc(fresh, func(p scope.Part) bool { return absorb(p, gone) })
	return fresh, len(gone) == 0
}

// absorb reports whether a part was merged from nothing but parts that are gone, and takes these away.
func absorb(p scope.Part, gone map[scope.Part]bool) bool {
	var from []scope.Part
	var rows uint64
	for g := range gone {
		if p.Low <= g.Low && g.High <= p.High {
			if g.Mutated {
				return false
			}
			from = append(from, g)
			rows += g.Rows
		}
	}
	if p.Mutated || rows != p.Rows {
		return false
	}
	for _, g := range from {
		delete(gone, g)
	}
	return true
}

// view is what is known of an account. It does not change once it is remembered.
type view struct {
	asOf    time.Time // the table consisted of these parts at some time after it
	version int64     // differs between views that know of different events
	months  map[uint32]knownMonth
	tail    tail
	unfit   bool // too much to remember: there is nothing in it
}

// versions numbers views.
var versions atomic.Int64

// stage is a month of which something has to be read.
type stage struct {
	month uint32
	known knownMonth // what stays true of it
	parts []scope.Part
	fresh []scope.Part // those of the parts that are not known
}

// follow returns what is known of a table that consists of these parts now. Of months of which something has to be read the
// view keeps what it knew, if that is true still.
func (v *view) follow(parts []scope.Part) (*view, []stage) {
	if !v.survives(parts) {
		v = &view{}
	}
	left := &view{version: v.version, months: map[uint32]knownMonth{}, tail: v.tail}
	now := map[uint32][]scope.Part{}
	for _, p := range parts {
		now[p.Month] = append(now[p.Month], p)
	}
	var stages []stage
	for month, parts := range now {
		known := v.months[month]
		fresh, ok := known.unread(parts)
		switch {
		case !ok:
			stages = append(stages, stage{month, knownMonth{}, parts, parts})
		case len(fresh) > 0:
			left.months[month] = known
			stages = append(stages, stage{month, known, parts, fresh})
		default:
			left.months[month] = knownMonth{parts, known.days}
		}
	}
	if len(stages) > 0 || len(left.months) < len(v.months) {
		left.version = versions.Add(1)
	}
	left.tail = left.tail.only(func(month uint32) bool { _, known := left.months[month]; return known })
	return left, stages
}

// survives reports whether any part that is known is there still. If none is, the server may have been started without any,
// and counts inserts from the beginning again.
func (v *view) survives(now []scope.Part) bool {
	for _, p := range now {
		if slices.Contains(v.months[p.Month].parts, p) {
			return true
		}
	}
	return false
}

// What is remembered of an account, at the most. Accounts with more are not remembered.
const (
	mostNumbers = 100_000
	mostEvents  = 1_000_000 // in a month: beyond it projections count faster than rows are read
)

// fits reports whether the view may be remembered.
func (v *view) fits() bool {
	numbers := 0
	for _, m := range v.months {
		if m.events() > mostEvents {
			return false
		}
		for i := range m.days {
			numbers += len(m.days[i].numbers)
		}
	}
	return numbers <= mostNumbers
}

// bytes returns about how much memory the view takes.
func (v *view) bytes() int {
	n := 1000 + v.tail.bytes()
	for _, m := range v.months {
		n += 100 * len(m.parts)
		for i := range m.days {
			n += 120 + 32*len(m.days[i].numbers)
		}
	}
	return n
}

func monthOf(t time.Time) uint32 { return uint32(t.Year()*100 + int(t.Month())) }
