package eventlist

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/query/scope"
)

// tries is how often what is new is read, if parts of it are merged meanwhile.
const tries = 4

// measures are how much is read and remembered of an account. Tests have others.
type measures struct {
	tail int // events of the tail, where there are as many, and not twice as many
	// few is how many rows, of all accounts, parts have at the most that are read whole by one statement. Of more,
	// events are counted, and only the first newest of them read: a tail grows with what comes in.
	few   uint64
	first int
}

var usual = measures{tail: 2000, few: 10_000, first: 200}

// look returns what is known of an account's events, as they were at some moment during the call, or nil if nothing can be remembered.
// Of requests that wait for one another all but the first may be answered from what one of them has read.
func (l *Lister) look(ctx context.Context, account uuid.UUID) (*view, error) {
	began := time.Now()
	r := l.history.of(account)
	if v := l.history.get(r); v.unfit && time.Since(v.asOf) < unfitFor {
		return nil, nil
	}
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	defer r.giveBack()
	v := l.history.get(r)
	if !v.asOf.Before(began) {
		if v.unfit {
			return nil, nil
		}
		return v, nil
	}
	v, err := l.follow(ctx, account, v)
	if err != nil || v == nil {
		return nil, err
	}
	if !v.fits() {
		l.history.set(account, r, &view{asOf: v.asOf, unfit: true})
		return nil, nil
	}
	l.history.set(account, r, v)
	return v, nil
}

// follow brings a view up to date. It returns nil if the parts of the table tell nothing, or change too fast.
func (l *Lister) follow(ctx context.Context, account uuid.UUID, v *view) (*view, error) {
	for range tries {
		asked := time.Now()
		parts, err := l.parts(ctx)
		if err != nil || len(parts) == 0 {
			return nil, err
		}
		next, stages := v.follow(parts)
		if len(stages) == 0 {
			next.asOf = asked
			return next, nil
		}
		read, err := l.readNew(ctx, account, stages, next.tail)
		if err != nil {
			return nil, err
		}
		if parts, err = l.parts(ctx); err != nil {
			return nil, err
		}
		v = next
		if v.learn(stages, read, parts, l.measures.tail) {
			v.asOf = asked
			return v, nil
		}
	}
	return nil, nil
}

// parts returns the parts of the table; none if they do not tell what is stored.
func (l *Lister) parts(ctx context.Context) ([]scope.Part, error) {
	parts, err := l.door.Parts(ctx)
	if _, answered := clickhouse.IsException(err); answered {
		return nil, nil // this user may not see them
	}
	if slices.ContainsFunc(parts, func(p scope.Part) bool { return p.Month == 0 }) {
		return nil, nil
	}
	return parts, err
}

// learn adds what was read of new parts to a view that nobody else has yet, and reports whether it is whole now: parts
// that are gone afterwards may have been gone before they were read, and their month has to be looked at once more.
func (v *view) learn(stages []stage, read *reading, after []scope.Part, length int) (whole bool) {
	whole = true
	learnt := map[uint32]bool{}
	for _, s := range stages {
		if slices.ContainsFunc(s.fresh, func(p scope.Part) bool { return !slices.Contains(after, p) }) {
			whole = false
			continue
		}
		learnt[s.month] = true
		m := s.known.plus(read.days[s.month])
		m.parts = s.parts
		v.months[s.month] = m
	}
	events := slices.DeleteFunc(read.events, func(e *recalled) bool { return !learnt[monthOf(e.Position.CreatedAt)] })
	v.tail = v.tail.plus(events, read.from, length)
	return whole
}

// reading is what parts have of an account.
type reading struct {
	days   map[uint32][]knownDay // by month
	events []*recalled
	from   time.Time // the events have all that were created at it or after it; zero: all
}

func (r *reading) add(d knownDay) {
	month := monthOf(d.start)
	r.days[month] = append(r.days[month], d)
}

// readNew reads the parts that are not known.
func (l *Lister) readNew(ctx context.Context, account uuid.UUID, stages []stage, known tail) (*reading, error) {
	var parts []scope.Part
	var rows uint64
	for _, s := range stages {
		parts = append(parts, s.fresh...)
		for _, p := range s.fresh {
			rows += p.Rows
		}
	}
	r := &reading{days: map[uint32][]knownDay{}}
	var err error
	if rows <= l.measures.few {
		if r.events, err = l.readTail(ctx, account, tailStatement(parts, time.Time{}, int64(rows))); err == nil {
			r.countEvents()
		}
		return r, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.readDays(groupCtx, account, parts, r) })
	group.Go(func() (err error) {
		r.from = known.from
		r.events, err = l.readTail(groupCtx, account, tailStatement(parts, known.from, int64(l.measures.first)))
		if n := len(r.events); n == l.measures.first { // of those at the same time as the last one some may be cut off
			r.from = r.events[n-1].Position.CreatedAt.Add(time.Millisecond)
		}
		return err
	})
	return r, group.Wait()
}

// countEvents counts the events that were read, which are all there are.
func (r *reading) countEvents() {
	type kind struct {
		start time.Time
		of    number
	}
	days, counted := map[time.Time]*knownDay{}, map[kind]int64{}
	for _, e := range r.events {
		start, stored := e.Position.CreatedAt.Truncate(dayLength), time.UnixMilli(e.stored).UTC()
		counted[kind{start, number{e.magnet, e.kind, e.bot, 0}}]++
		d := days[start]
		if d == nil {
			d = &knownDay{start: start, first: stored, last: stored}
			days[start] = d
		}
		d.first, d.last = minTime(d.first, stored), maxTime(d.last, stored)
	}
	for k, n := range counted {
		k.of.events = n
		days[k.start].numbers = append(days[k.start].numbers, k.of)
	}
	for _, d := range days {
		r.add(*d)
	}
}

// readDays counts the events of parts.
func (l *Lister) readDays(ctx context.Context, account uuid.UUID, parts []scope.Part, r *reading) error {
	days := map[time.Time]*knownDay{}
	err := l.door.Query(ctx, account, numbersStatement(parts), func(row scope.Row) error {
		var n number
		var kind string
		var human uint8
		var of knownDay
		if err := row.Scan(&of.start, &n.magnet, &kind, &human, &n.events, &of.first, &of.last); err != nil {
			return err
		}
		of.start = of.start.UTC()
		n.bot = human == 0
		n.kind, _ = event.ParseType(kind) // the column has no others
		d := days[of.start]
		if d == nil {
			d = &of
			days[of.start] = d
		}
		d.first, d.last = minTime(d.first, of.first), maxTime(d.last, of.last)
		d.numbers = append(d.numbers, n)
		return nil
	})
	for _, d := range days {
		r.add(*d)
	}
	return err
}

// readTail reads whole events.
func (l *Lister) readTail(ctx context.Context, account uuid.UUID, s scope.Statement) ([]*recalled, error) {
	var events []*recalled
	texts := map[string]string{} // user agents come again and again
	err := l.door.Query(ctx, account, s, func(row scope.Row) error {
		e := &recalled{}
		var stored time.Time
		if err := scanEvent(row, &e.Event, &e.magnet, &e.bot, &stored); err != nil {
			return err
		}
		e.kind, _ = event.ParseType(e.Type)
		e.Type = e.kind.String()
		e.stored = stored.UnixMilli()
		if text, has := texts[e.UserAgent]; has {
			e.UserAgent = text
		}
		texts[e.UserAgent] = e.UserAgent
		events = append(events, e)
		return nil
	})
	return events, err
}

func ofParts(parts []scope.Part) condition {
	return condition{"_part IN {parts:Array(String)}", "parts", scope.PartNames(parts)}
}

// numbersStatement counts the events of parts by day and kind, and tells when they were stored. That takes the rows: projection by_day
// does not have it.
func numbersStatement(parts []scope.Part) scope.Statement {
	where, params := conjunction([]condition{ofParts(parts)})
	params["limit"] = strconv.Itoa(mostNumbers + 1) // more are not remembered
	return scope.Statement{
		Name: "event numbers",
		SQL: join(`SELECT toDate(created_at) AS day, lead_magnet_id, event_type, bot = '' AS human, toInt64(count()) AS events, min(stored_at), max(stored_at)
FROM lodestone.events`,
			where, "GROUP BY day, lead_magnet_id, event_type, human\nLIMIT {limit:UInt64}"),
		Params: params, Projection: scope.NoProjection, AtOnce: true,
	}
}

// tailStatement reads the newest events of parts that were created at a time or after it.
func tailStatement(parts []scope.Part, from time.Time, limit int64) scope.Statement {
	conditions := []condition{ofParts(parts)}
	if !from.IsZero() {
		conditions = append(conditions, createdFrom("span_from", from))
	}
	where, params := conjunction(conditions)
	maps.Copy(params, map[string]string{"limit": strconv.FormatInt(limit, 10)})
	return scope.Statement{
		Name:   "event tail",
		SQL:    "SELECT\n    " + columns + ",\n    lead_magnet_id, bot != '', stored_at\nFROM lodestone.events\n" + where + order + "LIMIT {limit:UInt64}",
		Params: params, Projection: scope.NoProjection,
	}
}
