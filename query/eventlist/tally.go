package eventlist

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// What is remembered of months that are over counts most lists (see history). All others, those of a link above
// all, are counted by whichever way reads least, and the count tells on which days its events are, so that a
// page is looked for only where there is something to find:
//
//   - With a link, the rows of the link are read: projection by_link has them side by side, in the order of time. They tell
//     the times of events as well, on days that have few.
//   - With a lead magnet, type or bot, whole days are taken from projection by_day, which has a number for each
//     day, lead magnet and kind, and what is left of the first and the last day is read by the key.
//   - With no more than a time, ClickHouse counts granules of the key without reading them. That tells no days.
//
// What was stored after a time cannot be told from any of these. But most of it also happened after that
// time, and the index "stored" finds the exceptions. So, exactly and whatever is stored when,
//
//	stored after x = happened after x − happened after x but stored before + happened before x but stored after.

// tally is how many events a list has, and on which days.
type tally struct {
	total int64
	days  []day // the newest first; nil if that was not asked for
}

// day is one day (UTC) with events of the list.
type day struct {
	start  time.Time
	events int64
	times  []time.Time // of all its events, in no order; empty: not known
}

const dayLength = 24 * time.Hour

// until returns the time at which the day is over.
func (d day) until() time.Time { return d.start.Add(dayLength) }

// tally counts the list, day by day if the filter tells them or if they are wanted.
func (l *Lister) tally(ctx context.Context, account uuid.UUID, f Filter, byDay bool) (tally, error) {
	if !f.isNarrow() {
		if t, ok, err := l.recall(ctx, account, f); ok || err != nil {
			return t, err
		}
	}
	var t tally
	if !byDay && !f.isNarrow() && !f.isOfKind() {
		err := l.door.Query(ctx, account, totalStatement(f), func(row scope.Row) error { return row.Scan(&t.total) })
		return t, err
	}
	t.days = []day{}
	err := l.days(ctx, account, daysStatement(f), &t, f.isNarrow())
	t.sort()
	return t, err
}

// days reads the days that a statement counts into a tally, with the times that it tells if it tells any.
func (l *Lister) days(ctx context.Context, account uuid.UUID, s scope.Statement, t *tally, timed bool) error {
	return l.door.Query(ctx, account, s, func(row scope.Row) error {
		var d day
		into := []any{&d.start, &d.events}
		if timed {
			into = append(into, &d.times)
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		d.start = dateOf(d.start)
		t.add(d)
		return nil
	})
}

// dateOf returns the beginning of a day (UTC), which the driver gives as the midnight of the server's time zone.
func dateOf(d time.Time) time.Time {
	return time.Date(d.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC)
}

func (t *tally) add(d day) {
	t.total += d.events
	t.days = append(t.days, d)
}

func (t *tally) sort() {
	slices.SortFunc(t.days, func(a, b day) int { return b.start.Compare(a.start) })
}

// isNarrow reports whether projection by_link has all that the filter asks for side by side.
func (f Filter) isNarrow() bool { return f.AccessLinkID != nil }

// isOfKind reports whether projection by_day tells the events that the filter lets through from others.
func (f Filter) isOfKind() bool { return f.LeadMagnetID != nil || f.Type != 0 || f.Bot != nil }

// totalStatement counts without telling days.
func totalStatement(f Filter) scope.Statement {
	pieces := f.pieces(earliest, false)
	// It is the key that is counted, so any projection is as good: one is planned, not five.
	return union("event count", "SELECT sum(n)", "", "SELECT %toInt64(count()) AS n", "", pieces)
}

// fewOfDay is how many events a day of a link has at the most for their times to be told: those of a page of 20 and one more, with
// some room. A day with more of them is as well read as a whole.
const fewOfDay = 24

// daysStatement counts day by day. For a link it tells the times of events as well, on days with few.
func daysStatement(f Filter) scope.Statement {
	if !f.isNarrow() {
		return daysUnion("event days", f.pieces(earliest, true))
	}
	where, params := conjunction(f.conditions())
	params["few"] = strconv.Itoa(fewOfDay)
	return scope.Statement{
		Name: "event days of a link",
		SQL: join("SELECT toDate(created_at) AS day, toInt64(count()) AS events,\n    if(events <= {few:Int64}, groupArray({few:UInt64})(created_at), []) AS times\nFROM lodestone.events",
			where, "GROUP BY day"),
		Params: params, Projection: "by_link", AtOnce: true,
	}
}

// daysUnion counts pieces day by day, together.
func daysUnion(name string, pieces []piece) scope.Statement {
	return union(name,
		"SELECT day, sum(n) AS events", "GROUP BY day\nHAVING events != 0",
		"SELECT toDate(created_at) AS day, %toInt64(count()) AS n", "GROUP BY day", pieces)
}

// piece is a part of a count: what the conditions let through is added, or taken off.
type piece struct {
	conditions []condition
	takeOff    bool
}

// pieces returns what makes up the count of the list from a time on, in whole days where that can be.
func (f Filter) pieces(since time.Time, byDay bool) []piece {
	kind := Filter{LeadMagnetID: f.LeadMagnetID, Type: f.Type, Bot: f.Bot}.conditions()
	from, to := since, latest
	if f.From != nil && f.From.After(since) {
		from = within(ceil(*f.From))
	}
	if f.To != nil {
		to = within(ceil(*f.To))
	}
	low := from // with a time of storage, events are counted from it on
	var list []piece
	add := func(takeOff bool, more ...condition) {
		list = append(list, piece{append(slices.Clip(kind), more...), takeOff})
	}
	if f.ReceivedAfter != nil {
		x := within(f.ReceivedAfter.Truncate(time.Millisecond))
		if next := x.Add(time.Millisecond); next.After(low) {
			low = minTime(next, to)
			add(false, createdFrom("since", from), createdBefore("low", low), storedAfter(x))
		}
		add(true, createdFrom("low", low), createdBefore("to", to), condition{"stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')", "received_after", milliseconds(x)})
	}
	if !byDay {
		add(false, createdFrom("low", low), createdBefore("to", to))
		return list
	}
	first, last := low.Truncate(dayLength), to.Truncate(dayLength)
	if first.Before(low) {
		first = first.Add(dayLength)
	}
	if !first.Before(last) { // no whole day
		add(false, createdFrom("low", low), createdBefore("to", to))
		return list
	}
	add(false, wholeDays(first, last)...)
	if low.Before(first) {
		add(false, createdFrom("low", low), createdBefore("first", first))
	}
	if last.Before(to) {
		add(false, createdFrom("last", last), createdBefore("to", to))
	}
	return list
}

func storedAfter(t time.Time) condition {
	return condition{"stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')", "received_after", milliseconds(t)}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// union puts a statement together: each is the SELECT of a piece, in which % stands for its sign. A single piece is all there is: to
// plan a SELECT around it takes the server a millisecond.
func union(name, selection, ending, each, eachEnding string, pieces []piece) scope.Statement {
	params := map[string]string{}
	selects := make([]string, len(pieces))
	for i, p := range pieces {
		sign := ""
		if p.takeOff {
			sign = "-"
		}
		where, values := conjunction(p.conditions)
		maps.Copy(params, values)
		selects[i] = join(strings.Replace(each, "%", sign, 1), "FROM lodestone.events", where, eachEnding)
	}
	sql := selects[0]
	if len(pieces) > 1 || pieces[0].takeOff {
		sql = join(selection, "FROM\n(\n"+strings.Join(selects, "\nUNION ALL\n")+"\n)", ending)
	}
	return scope.Statement{Name: name, SQL: sql, Params: params, Projection: "by_day", AtOnce: true}
}

// join puts the parts that are not empty on lines of their own.
func join(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, "\n")
}
