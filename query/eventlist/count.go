package eventlist

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// A list is counted by one statement, by day: the days tell where a page finds its events.
//
//   - With a link, the rows of the link are counted: projection by_link has them side by side, in
//     the order of time.
//   - Else whole days are counted from projection by_day, which has a number for each day, lead
//     magnet, type and bot or not, and what is left of the first and the last day is counted by the
//     key.
//
// Projection by_day does not have the time at which an event was stored. But most events that were
// stored after a time also happened after it, and the index "stored" finds the exceptions. So,
// exactly, whatever is stored when, and for any d,
//
//	stored after x = created from d on − created from d on but stored by x
//	    + created before d but stored after x
//
// with the end of the day of x as d. If x is of the newest days, little was stored since, and all
// of it is counted by the index.

// day is one day (UTC) with events of the list.
type day struct {
	start  time.Time
	events int64
	times  []time.Time // of all its events, in no order; empty: not known
}

const dayLength = 24 * time.Hour

// end returns the time at which the day is over.
func (d day) end() time.Time { return d.start.Add(dayLength) }

// count returns how many events the list has, and on which days, the newest first.
func (l *Lister) count(ctx context.Context, account uuid.UUID, f Filter) (total int64, days []day, err error) {
	if f.created().isEmpty() {
		return 0, nil, nil
	}
	byStart := map[time.Time]day{}
	err = l.ch.Query(ctx, account, countStatement(f, time.Now()), func(row scope.Row) error {
		var d day
		into := []any{&d.start, &d.events}
		if f.isOfLink() {
			into = append(into, &d.times)
		}
		if err := row.Scan(into...); err != nil {
			return fmt.Errorf("read day: %w", err)
		}
		d.start = dateOf(d.start)
		d.events += byStart[d.start].events // of another piece
		byStart[d.start] = d
		return nil
	})
	for _, d := range byStart {
		if d.events != 0 {
			total += d.events
			days = append(days, d)
		}
	}
	slices.SortFunc(days, func(a, b day) int { return b.start.Compare(a.start) })
	return total, days, err
}

// dateOf returns the beginning of a day (UTC), which the driver gives as the midnight of the
// server's time zone.
func dateOf(d time.Time) time.Time {
	return time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC)
}

// maxTimes is up to how many events a day of a link has its times returned: those of a page of 20
// and one more, with some room. A day with more events is read in full.
const maxTimes = 24

// isOfLink reports whether projection by_link has the events of the list side by side.
func (f Filter) isOfLink() bool { return f.AccessLinkID != nil }

// countStatement counts the list. The numbers of all rows of a day are to be added up.
func countStatement(f Filter, now time.Time) scope.Statement {
	if f.isOfLink() {
		return linkStatement(f)
	}
	return daysStatement(f, now)
}

// linkStatement counts the list of a link, with the times of events on days that have few.
func linkStatement(f Filter) scope.Statement {
	clause, params := where(f.conditions())
	params["max_times"] = strconv.Itoa(maxTimes)
	return scope.Statement{
		Name:  "event days of a link",
		Whole: true,
		SQL: `SELECT toDate(created_at) AS day, toInt64(count()) AS events,
    if(events <= {max_times:Int64}, groupArray({max_times:UInt64})(created_at), []) AS times
FROM lodestone.events
` + clause + "\nGROUP BY day",
		Params: params, Projection: "by_link", AtOnce: true,
	}
}

// daysStatement counts any other list.
func daysStatement(f Filter, now time.Time) scope.Statement {
	var pieces []piece
	for _, p := range f.pieces(now) {
		pieces = append(pieces, p.byDay()...)
	}
	params := map[string]string{}
	selects := make([]string, len(pieces))
	for i, p := range pieces {
		sign, suffix := "", ""
		if p.takeOff {
			sign = "-"
		}
		if i > 0 {
			suffix = "_" + strconv.Itoa(i+1)
		}
		clause, values := where(append(f.properties(), p.conditions(suffix)...))
		maps.Copy(params, values)
		selects[i] = "SELECT toDate(created_at) AS day, " + sign + "toInt64(count()) AS events\nFROM lodestone.events\n" +
			clause + "\nGROUP BY day"
	}
	return scope.Statement{
		// To add up on the server would take it another millisecond of planning.
		Name: "event days", Whole: true, SQL: strings.Join(selects, "\nUNION ALL\n"), Params: params,
		Projection: "by_day", AtOnce: true,
		Alone: f.ReceivedAfter == nil, // else the index "stored" is needed
	}
}

// piece is a part of a count: the number of events that were created in a period is added, or taken
// off.
type piece struct {
	created period
	days    bool        // the bounds of the period are days, and compared as such
	more    []condition // that must hold as well
	takeOff bool
}

// pieces returns the pieces that make up the count of the list, whose period is not empty.
func (f Filter) pieces(now time.Time) (list []piece) {
	created := f.created()
	if f.ReceivedAfter == nil {
		return []piece{{created: created}}
	}
	x := within(f.ReceivedAfter.Truncate(time.Millisecond))
	if x.After(now.Add(-recent)) {
		return []piece{{created: created, more: []condition{storedAfter(x)}}}
	}
	d := x.Truncate(dayLength).Add(dayLength)
	if p := created.before(d); !p.isEmpty() {
		list = append(list, piece{created: p, more: []condition{storedAfter(x)}})
	}
	if p := created.since(d); !p.isEmpty() {
		list = append(list, piece{created: p}, piece{created: p, more: []condition{storedBy(x)}, takeOff: true})
	}
	return list
}

// byDay divides a piece into the whole days of its period, which projection by_day can count, and
// what is left at its ends.
func (p piece) byDay() []piece {
	if len(p.more) > 0 {
		return []piece{p}
	}
	days, list := p.created, []piece{}
	if from := p.created.from; from != nil {
		first := from.Add(dayLength - 1).Truncate(dayLength)
		days.from = &first
		list = append(list, piece{created: p.created.before(first)})
	}
	if to := p.created.to; to != nil {
		last := to.Truncate(dayLength)
		days.to = &last
		list = append(list, piece{created: p.created.since(last)})
	}
	if days.isEmpty() {
		return []piece{p}
	}
	list = append(list, piece{created: days, days: true})
	return slices.DeleteFunc(list, func(p piece) bool { return p.created.isEmpty() })
}

// conditions returns those of the piece, whose parameters for its bounds end with the suffix.
func (p piece) conditions(suffix string) []condition {
	from, to := "from"+suffix, "to"+suffix
	if !p.days {
		return append(p.created.conditions(from, to), p.more...)
	}
	list := p.more
	if first := p.created.from; first != nil {
		list = append(list, condition{"toDate(created_at) >= {" + from + ":Date}",
			[]param{{from, first.Format(time.DateOnly)}}})
	}
	if end := p.created.to; end != nil {
		list = append(list, condition{"toDate(created_at) < {" + to + ":Date}", []param{{to, end.Format(time.DateOnly)}}})
	}
	return list
}
