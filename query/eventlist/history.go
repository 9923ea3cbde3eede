package eventlist

import (
	"slices"
	"strings"
	"sync"
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
	// busy is the number of events of a month from which on projections count faster than rows are read.
	busy = 1_000_000
	// unfitFor is how long an account that cannot be remembered is not tried again.
	unfitFor = time.Hour
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
	made     time.Time
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

// numbers returns how many are remembered.
func (v *view) numbers() (n int) {
	for _, m := range v.months {
		for i := range m.days {
			n += len(m.days[i].numbers)
		}
	}
	return n
}

// isBusy reports whether the last month has so many events that rows are better not read.
func (v *view) isBusy() bool {
	var last uint32
	for month := range v.months {
		last = max(last, month)
	}
	var events int64
	for _, d := range v.months[last].days {
		for i := range d.numbers {
			events += d.numbers[i].events
		}
	}
	return events > busy
}

// history is what is remembered of all accounts. It is safe for concurrent use.
type history struct {
	mu    sync.Mutex
	views map[uuid.UUID]*remembered
	size  int // the sum of all sizes
}

type remembered struct {
	view *view
	size int
	used time.Time
}

// get returns what is known of an account, or nil.
func (h *history) get(account uuid.UUID, open time.Time) *view {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.views[account]
	if r == nil || !r.view.open.Equal(open) || r.view.unfit && time.Since(r.view.made) > unfitFor {
		return nil
	}
	r.used = time.Now()
	return r.view
}

// set remembers what is known of an account, and forgets what was not used for long.
func (h *history) set(account uuid.UUID, v *view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.views == nil {
		h.views = map[uuid.UUID]*remembered{}
	}
	h.forget(account)
	r := &remembered{v, v.numbers() + 100, time.Now()} // a view without numbers takes something as well
	h.views[account] = r
	h.size += r.size
	for h.size > mostRemembered {
		oldest := account
		for id, other := range h.views {
			if other.used.Before(h.views[oldest].used) {
				oldest = id
			}
		}
		h.forget(oldest)
	}
}

func (h *history) forget(account uuid.UUID) {
	if r := h.views[account]; r != nil {
		h.size -= r.size
		delete(h.views, account)
	}
}
