package eventlist

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// known is what is remembered of a list.
type known struct {
	tally  tally               // but for the unread days, which have no events there
	unread map[time.Time]int64 // days that the list has a part of only, with how many events they have of any list
}

// recall returns what is remembered of a list.
func (v *view) recall(f Filter) known {
	from, to := earliest, latest
	if f.From != nil {
		from = within(ceil(*f.From))
	}
	if f.To != nil {
		to = within(ceil(*f.To))
	}
	k := known{tally: tally{days: []day{}}, unread: map[time.Time]int64{}}
	for _, m := range v.months {
		for i := range m.days {
			d := &m.days[i]
			end := d.start.Add(dayLength)
			if !end.After(from) || !d.start.Before(to) || f.ReceivedAfter != nil && !d.last.After(*f.ReceivedAfter) {
				continue
			}
			var events int64
			for j := range d.numbers {
				if n := &d.numbers[j]; n.isOf(f) {
					events += n.events
				}
			}
			if events == 0 {
				continue
			}
			if d.start.Before(from) || end.After(to) || f.ReceivedAfter != nil && !d.first.After(*f.ReceivedAfter) {
				if v.tail.has(maxTime(d.start, from)) {
					events = v.tail.count(f, d.start)
				} else {
					k.unread[d.start], events = d.events(), 0
				}
			}
			k.tally.add(day{d.start, events})
		}
	}
	slices.SortFunc(k.tally.days, func(a, b day) int { return b.start.Compare(a.start) })
	return k
}

// readRest counts what is left of a list. It reports false if the parts that are known were merged meanwhile.
func (l *Lister) readRest(ctx context.Context, account uuid.UUID, f Filter, v *view, k *known) (bool, error) {
	if len(k.unread) == 0 {
		return true, nil
	}
	days := slices.Collect(maps.Keys(k.unread))
	var parts []scope.Part
	for month, m := range v.months {
		if slices.ContainsFunc(days, func(d time.Time) bool { return monthOf(d) == month }) {
			parts = append(parts, m.parts...)
		}
	}
	slices.SortFunc(days, time.Time.Compare)
	read := map[time.Time]int64{}
	err := l.door.Query(ctx, account, restStatement(f, parts, days), func(row scope.Row) error {
		var d day
		var all int64
		if err := row.Scan(&d.start, &all, &d.events); err != nil {
			return err
		}
		d.start = d.start.UTC()
		read[d.start] = all
		i := slices.IndexFunc(k.tally.days, func(o day) bool { return o.start.Equal(d.start) })
		if i >= 0 {
			k.tally.days[i].events = d.events
			k.tally.total += d.events
		}
		return nil
	})
	// Parts that were gone would be missing from what all lists have of these days.
	return maps.Equal(read, k.unread), err
}

// restStatement counts days of which a list has a part only, and all events of them.
func restStatement(f Filter, parts []scope.Part, days []time.Time) scope.Statement {
	sql, params := []string{"1"}, map[string]string{}
	for _, c := range f.conditions() {
		sql = append(sql, c.sql)
		params[c.param] = c.value
	}
	where, also := conjunction([]condition{{"toDate(created_at) IN {days:Array(Date)}", "days", dates(days)}, ofParts(parts)})
	maps.Copy(params, also)
	return scope.Statement{
		Name: "event rest",
		SQL: join("SELECT toDate(created_at) AS day, toInt64(count()) AS held, toInt64(countIf("+strings.Join(sql, "\n    AND ")+")) AS events\nFROM lodestone.events",
			where, "GROUP BY day"),
		Params: params, Projection: scope.NoProjection, AtOnce: true,
	}
}

// recall counts the list from what is remembered, and by one statement for days that the list has a part of only. It reports
// false if the list has to be counted otherwise.
func (l *Lister) recall(ctx context.Context, account uuid.UUID, f Filter) (tally, bool, error) {
	for range tries {
		v, err := l.look(ctx, account)
		if err != nil || v == nil {
			return tally{}, false, err
		}
		k := v.recall(f)
		if len(k.unread) > mostDays {
			return tally{}, false, nil
		}
		if ok, err := l.readRest(ctx, account, f, v, &k); ok || err != nil {
			return k.tally.whole(), err == nil, err
		}
	}
	return tally{}, false, nil // it changes while it is counted
}

// whole returns the tally without days that turned out to have nothing.
func (t *tally) whole() tally {
	return tally{t.total, slices.DeleteFunc(t.days, func(d day) bool { return d.events == 0 })}
}
