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
		if l.isTooMuch(known) {
			return tally{}, false, nil
		}
		if v.monthly > l.busy && len(v.restless) > 0 { // too many rows; they may have come to rest
			if now == nil {
				if now, err = l.states(ctx, open); err != nil {
					return tally{}, false, err
				}
			}
			if v.stands(now) {
				return tally{}, false, nil
			}
			if v, now, err = l.learn(ctx, account, v, open); err != nil {
				return tally{}, false, err
			}
			continue
		}
		group, groupCtx := errgroup.WithContext(ctx)
		if known.rest {
			group.Go(func() error {
				return l.days(groupCtx, account, l.restStatement(f, v, known.unread), &known.tally, false)
			})
		}
		if uses && now == nil {
			group.Go(func() (err error) {
				now, err = l.states(groupCtx, open)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return tally{}, false, err
		}
		if !uses || v.stands(now) {
			known.tally.sort()
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
	rows   int64       // of such events on those days, at the least
	rest   bool        // whether anything must be read
}

// isTooMuch reports whether what must be read of days that are over is better counted otherwise.
func (l *Lister) isTooMuch(k known) bool { return len(k.unread) > mostDays || k.rows > l.busy }

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
				k.unread, k.rest, k.rows = append(k.unread, d.start), true, k.rows+events
			default:
				k.tally.add(day{start: d.start, events: events})
			}
		}
	}
	return k
}

// restStatement counts what is not remembered, day by day, the way that reads less.
func (l *Lister) restStatement(f Filter, v *view, unread []time.Time) scope.Statement {
	part := f.From != nil && f.From.After(v.open) || f.ReceivedAfter != nil && f.ReceivedAfter.After(v.open) // of the month
	if v.monthly > l.busy || v.monthly > l.many && !part {
		return restNumbersStatement(f, v, unread)
	}
	return restRowsStatement(f, v, unread)
}

// restRowsStatement counts it by rows.
func restRowsStatement(f Filter, v *view, unread []time.Time) scope.Statement {
	open := createdFrom("open", v.open)
	anyOf, also := v.unknown(unread)
	anyOf, also["open"] = append([]string{open.sql}, anyOf...), open.value
	where, params := conjunction(f.conditions())
	maps.Copy(params, also)
	return scope.Statement{
		Name: "event rest",
		SQL: join("SELECT toDate(created_at) AS day, toInt64(count()) AS events\nFROM lodestone.events",
			where+"\n  AND ("+strings.Join(anyOf, " OR ")+")", "GROUP BY day"),
		Params: params, Projection: scope.NoProjection, AtOnce: true,
	}
}

// restNumbersStatement counts whole days of months that are not over by their numbers, and the rest by rows.
func restNumbersStatement(f Filter, v *view, unread []time.Time) scope.Statement {
	var pieces []piece
	if f.To == nil || f.To.After(v.open) {
		pieces = f.pieces(v.open, true)
	}
	anyOf, also := v.unknown(unread)
	if len(anyOf) > 0 {
		pieces = append(pieces, piece{conditions: append(f.conditions(), condition{sql: "(" + strings.Join(anyOf, " OR ") + ")"})})
	}
	s := daysUnion("event rest", pieces)
	maps.Copy(s.Params, also)
	return s
}

// unknown returns conditions for what is over and not remembered, of which one must hold, with their parameters.
func (v *view) unknown(unread []time.Time) (anyOf []string, params map[string]string) {
	params = map[string]string{}
	if len(v.restless) > 0 {
		anyOf = append(anyOf, "toYYYYMM(created_at) IN {months:Array(UInt32)}")
		texts := make([]string, len(v.restless))
		for i, month := range v.restless {
			texts[i] = strconv.FormatUint(uint64(month), 10)
		}
		params["months"] = "[" + strings.Join(texts, ",") + "]"
	}
	if len(unread) > 0 {
		anyOf = append(anyOf, "toDate(created_at) IN {days:Array(Date)}")
		params["days"] = array(unread, time.DateOnly)
	}
	return anyOf, params
}

// states asks for the state of every month before one, nil if parts do not tell of months.
func (l *Lister) states(ctx context.Context, open time.Time) (map[uint32]state, error) {
	parts, err := l.door.Parts(ctx)
	return states(parts, open, l.quiet), err
}

// learn makes and remembers a new view of an account, with what still holds of an old one. It returns the state of
// the months at some time during the call as well, unless it is not known.
func (l *Lister) learn(ctx context.Context, account uuid.UUID, old *view, open time.Time) (*view, map[uint32]state, error) {
	v := &view{open: open, months: map[uint32]knownMonth{}}
	now, err := l.states(ctx, open)
	if _, answered := clickhouse.IsException(err); err != nil && !answered {
		return nil, nil, err
	}
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
	if v.unfit = v.unfit || v.numbers() > mostNumbers; v.unfit {
		v.months = nil
	}
	v.monthly = v.lastMonth()
	if old != nil && len(v.restless) > 0 { // its last months may be among them
		v.monthly = max(v.monthly, old.monthly)
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
	after, err := l.states(ctx, v.open)
	if err != nil {
		return nil, err
	}
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
			d.start = dateOf(d.start)
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
			counted[dateOf(start)] = append(counted[dateOf(start)], n)
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
