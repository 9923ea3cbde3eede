package eventlist

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/query/scope"
)

// recall counts the list from what is remembered, and by one statement for the rest: months that are not over or
// not known, and days that the filter takes only a part of. It reports false if the list has to be counted otherwise.
func (l *Lister) recall(ctx context.Context, account uuid.UUID, f Filter) (t tally, ok bool, err error) {
	open := scope.Opening(time.Now())
	uses := f.From == nil || f.From.Before(open)
	v, there := l.history.Get(account, open)
	var now map[uint32]state
	if !there {
		if v, now, err = l.learn(ctx, account, nil, open); err != nil {
			return tally{}, false, err
		}
	}
	for range 2 {
		if v.unfit {
			return tally{}, false, nil
		}
		known := v.recall(f)
		if len(known.unread) > mostDays {
			return tally{}, false, nil
		}
		group, groupCtx := errgroup.WithContext(ctx)
		if known.rest {
			group.Go(func() error { return l.days(groupCtx, account, restStatement(f, v, known.unread), &known.tally) })
		}
		if uses && now == nil {
			group.Go(func() error {
				parts, err := l.door.Parts(groupCtx)
				now = states(parts, open, l.quiet)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return tally{}, false, err
		}
		if !uses || v.stands(now) {
			slices.SortFunc(known.tally.days, func(a, b day) int { return b.start.Compare(a.start) })
			return known.tally, true, nil
		}
		if v, now, err = l.learn(ctx, account, v, open); err != nil {
			return tally{}, false, err
		}
	}
	return tally{}, false, nil // it changes while it is counted
}

// known is what is remembered of a list.
type known struct {
	tally  tally
	unread []time.Time // days that must be read
	rest   bool        // whether anything must be read
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
	k := known{tally: tally{days: []day{}}, rest: to.After(v.open) || len(v.restless) > 0}
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
			switch {
			case events == 0:
			case d.start.Before(from) || end.After(to) || f.ReceivedAfter != nil && !d.first.After(*f.ReceivedAfter):
				k.unread, k.rest = append(k.unread, d.start), true
			default:
				k.tally.add(day{d.start, events})
			}
		}
	}
	return k
}

// restStatement counts what is not remembered, day by day: rows are read, since what is left of an account is little.
func restStatement(f Filter, v *view, unread []time.Time) scope.Statement {
	anyOf := []string{createdFrom("open", v.open).sql}
	also := map[string]string{"open": createdFrom("open", v.open).value}
	if len(v.restless) > 0 {
		anyOf = append(anyOf, "toYYYYMM(created_at) IN {months:Array(UInt32)}")
		texts := make([]string, len(v.restless))
		for i, month := range v.restless {
			texts[i] = strconv.FormatUint(uint64(month), 10)
		}
		also["months"] = "[" + strings.Join(texts, ",") + "]"
	}
	if len(unread) > 0 {
		anyOf = append(anyOf, "toDate(created_at) IN {days:Array(Date)}")
		also["days"] = dates(unread)
	}
	where, params := conjunction(f.conditions())
	maps.Copy(params, also)
	return scope.Statement{
		Name: "event rest",
		SQL: join("SELECT toDate(created_at) AS day, toInt64(count()) AS events\nFROM lodestone.events",
			where+"\n  AND ("+strings.Join(anyOf, " OR ")+")", "GROUP BY day"),
		Params: params, Projection: scope.NoProjection, AtOnce: true,
	}
}

// learn makes and remembers a new view of an account, with what still holds of an old one. It returns the state of
// the months at some time during the call as well, unless it is not known.
func (l *Lister) learn(ctx context.Context, account uuid.UUID, old *view, open time.Time) (*view, map[uint32]state, error) {
	v := &view{open: open, months: map[uint32]knownMonth{}}
	parts, err := l.door.Parts(ctx)
	if _, answered := clickhouse.IsException(err); err != nil && !answered {
		return nil, nil, err
	}
	now := states(parts, open, l.quiet)
	v.unfit = now == nil // or this user may not see parts
	var missing []uint32
	for month, s := range now {
		switch {
		case old != nil && old.months[month].parts == s.parts:
			v.months[month] = old.months[month]
		case s.quiet:
			missing = append(missing, month)
		default:
			v.restless = append(v.restless, month)
		}
	}
	if len(missing) > 0 {
		if now, err = l.count(ctx, account, v, missing, now); err != nil {
			return nil, nil, err
		}
	}
	if v.unfit = v.unfit || v.numbers() > mostNumbers || v.isBusy(); v.unfit {
		v.months = nil
	}
	if now != nil { // else there may be parts the next time
		l.history.Set(account, v)
	}
	return v, now, nil
}

// count counts months for a view, and returns the state of the months afterwards. Those that changed meanwhile are
// restless.
func (l *Lister) count(ctx context.Context, account uuid.UUID, v *view, missing []uint32, before map[uint32]state) (map[uint32]state, error) {
	first, last := monthStart(slices.Min(missing)), monthStart(slices.Max(missing)).AddDate(0, 1, 0)
	days, fits, err := l.knownDays(ctx, account, first, last)
	if err != nil {
		return nil, err
	}
	v.unfit = !fits
	parts, err := l.door.Parts(ctx)
	if err != nil {
		return nil, err
	}
	after := states(parts, v.open, l.quiet)
	for _, month := range missing {
		if after[month].parts == before[month].parts {
			v.months[month] = knownMonth{parts: before[month].parts}
		} else {
			v.restless = append(v.restless, month)
		}
	}
	for _, d := range days {
		month := scope.MonthOf(d.start)
		if m, known := v.months[month]; known && slices.Contains(missing, month) {
			m.days = append(m.days, *d)
			v.months[month] = m
		}
	}
	return after, nil
}

// knownDays counts days from one on and before another one, and reports false if there are too many numbers.
func (l *Lister) knownDays(ctx context.Context, account uuid.UUID, first, last time.Time) ([]*knownDay, bool, error) {
	rows := 0
	stored := map[time.Time]*knownDay{}
	counted := map[time.Time][]number{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return l.door.Query(groupCtx, account, storedStatement(first, last), func(row scope.Row) error {
			var d knownDay
			if err := row.Scan(&d.start, &d.first, &d.last); err != nil {
				return err
			}
			d.start = d.start.UTC()
			stored[d.start] = &d
			return nil
		})
	})
	group.Go(func() error {
		return l.door.Query(groupCtx, account, numbersStatement(first, last), func(row scope.Row) error {
			var n number
			var start time.Time
			var kind string
			var human uint8
			if err := row.Scan(&start, &n.magnet, &kind, &human, &n.events); err != nil {
				return err
			}
			n.bot = human == 0
			rows++
			n.kind, _ = event.ParseType(kind) // the column has no others
			counted[start.UTC()] = append(counted[start.UTC()], n)
			return nil
		})
	})
	if err := group.Wait(); err != nil {
		return nil, false, err
	}
	list := make([]*knownDay, 0, len(stored))
	for start, d := range stored { // both are of the same parts, or the month is not remembered
		d.numbers = counted[start]
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *knownDay) int { return cmp.Compare(a.start.Unix(), b.start.Unix()) })
	return list, rows <= mostNumbers, nil
}

// wholeDays lets through what was created from one day on and before another one.
func wholeDays(first, last time.Time) []condition {
	return []condition{
		{"toDate(created_at) >= {first_day:Date}", "first_day", first.Format(time.DateOnly)},
		{"toDate(created_at) < {last_day:Date}", "last_day", last.Format(time.DateOnly)},
	}
}

// numbersStatement counts whole days by kind, in the words of projection by_day.
func numbersStatement(first, last time.Time) scope.Statement {
	where, params := conjunction(wholeDays(first, last))
	params["limit"] = strconv.Itoa(mostNumbers + 1)
	return scope.Statement{
		Name: "event numbers",
		SQL: join("SELECT toDate(created_at) AS day, lead_magnet_id, event_type, bot = '' AS human, toInt64(count()) AS events\nFROM lodestone.events",
			where, "GROUP BY day, lead_magnet_id, event_type, human\nLIMIT {limit:UInt64}"),
		Params: params, Projection: "by_day", AtOnce: true,
	}
}

// storedStatement tells when events of each day were stored.
func storedStatement(first, last time.Time) scope.Statement {
	where, params := conjunction(wholeDays(first, last))
	return scope.Statement{
		Name: "event days stored",
		SQL: join("SELECT toDate(created_at) AS day, min(stored_at), max(stored_at)\nFROM lodestone.events",
			where, "GROUP BY day"),
		Params: params, Projection: scope.NoProjection, AtOnce: true,
	}
}
