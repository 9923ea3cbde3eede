package eventlist

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/query/scope"
)

// What happened in months that are over hardly changes, but each part of each month that a statement looks into
// costs it about half a millisecond. So the numbers of such months are remembered: for each account, day, lead magnet,
// type and bot or not, as projection by_day has them, with the parts that they were counted from. Parts never
// change, so as long as a month consists of the same ones, the numbers are exact; an event that comes late, a month
// that leaves, or anything else that changes events makes other parts, and the month is counted anew. Every
// answer that uses a number has asked for the parts first or meanwhile.

const (
	// quiet is how long the parts of a month must have stood for it to be remembered: while late events come, counting
	// it anew for each would cost more than it saves.
	quiet = 15 * time.Second
	// mostNumbers is how many are remembered of an account, mostRemembered of all, at 32 bytes each. What was not asked for
	// longest is forgotten first; accounts with more numbers than that are not remembered.
	mostNumbers, mostRemembered = 100_000, 500_000
	// many is the number of events of a month from which on projection by_day counts the month that is not over faster than its rows:
	// in 5 to 6 ms whatever their number, where 200,000 rows take 10 and 30,000 take 6.
	many = 50_000
	// busy is the number from which on it is faster for a part of the month, too, and how many rows of restless months, or of single days
	// of months that are over, are read at the most, as far as is known.
	busy = 1_000_000
)

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

// knownDay is what is remembered of a day.
type knownDay struct {
	start       time.Time
	first, last time.Time // the earliest and the latest time at which an event of it was stored
	numbers     []number
}

// knownMonth is what is remembered of a month, and the parts it was counted from.
type knownMonth struct {
	parts string
	days  []knownDay
}

// view is what is known of an account. It does not change once it is made.
type view struct {
	open     time.Time // where the months begin that are not over
	months   map[uint32]knownMonth
	restless []uint32 // months that are over, and not known
	unfit    bool     // too much to remember, or parts tell nothing: months is empty
	monthly  int64    // events of the last month that is remembered
}

func monthStart(m uint32) time.Time {
	return time.Date(int(m/100), time.Month(m%100), 1, 0, 0, 0, 0, time.UTC)
}

// state is of which parts a month consists, and for how long.
type state struct {
	parts string
	quiet bool
}

// states returns the state of every month before one, or nil if parts do not tell of months.
func states(parts []scope.Part, open time.Time, quiet time.Duration) map[uint32]state {
	names := map[uint32][]string{}
	young := map[uint32]bool{}
	for _, p := range parts {
		if p.Month == 0 {
			return nil
		}
		if p.Month < scope.MonthOf(open) {
			names[p.Month] = append(names[p.Month], p.Identity())
			young[p.Month] = young[p.Month] || p.Age < quiet
		}
	}
	if len(parts) == 0 {
		return nil // no events, or they lie on other servers
	}
	list := make(map[uint32]state, len(names))
	for month, n := range names {
		slices.Sort(n)
		list[month] = state{strings.Join(n, "\n"), !young[month]}
	}
	return list
}

// stands reports whether what is known is true of a table with these parts, and nothing more is to be learnt.
func (v *view) stands(now map[uint32]state) bool {
	if now == nil {
		return false
	}
	for month, known := range v.months {
		if now[month].parts != known.parts {
			return false
		}
	}
	for month, s := range now {
		if _, known := v.months[month]; !known && (s.quiet || !slices.Contains(v.restless, month)) {
			return false
		}
	}
	return true
}

// Open, Unfit and Size are what the memory of all accounts asks for. A view without numbers takes something as well.
func (v *view) Open() time.Time { return v.open }
func (v *view) Unfit() bool     { return v.unfit }
func (v *view) Size() int       { return v.numbers() + 100 }

// numbers returns how many are remembered.
func (v *view) numbers() (n int) {
	for _, m := range v.months {
		for i := range m.days {
			n += len(m.days[i].numbers)
		}
	}
	return n
}

// lastMonth returns how many events the last month has that is remembered.
func (v *view) lastMonth() (events int64) {
	var last uint32
	for month := range v.months {
		last = max(last, month)
	}
	for _, d := range v.months[last].days {
		for i := range d.numbers {
			events += d.numbers[i].events
		}
	}
	return events
}
