package eventlist

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/query/scope"
)

// Every part of the table that may hold an event of a page costs about as much as the page itself, and most
// pages are of what happened last. So the newest days are looked at first, while the list is counted; if they
// have too few events, the count tells on which days the others are (see tally).

// recent is how far back the first look goes, and once is how far one without knowledge of the days goes next.
const (
	recent = 2 * dayLength
	once   = 60 * dayLength
)

// span is where a statement looks for events of a list: nil bounds are none.
type span struct {
	after  *Position  // only what comes after it in the list
	from   *time.Time // created at or after it
	before *time.Time // created before it
	days   []day      // created on one of them, at its times if it tells them; nil: on any
}

// search returns the first events of the list, or the first ones after a position, and counts it.
func (l *Lister) search(ctx context.Context, account uuid.UUID, f Filter, p *Position, limit int64) (found []Event, total int64, err error) {
	first := firstLook(f, p)
	found, counted, err := l.look(ctx, account, f, first, limit)
	if err != nil {
		return nil, 0, err
	}
	if found, err = l.complete(ctx, account, f, first, found, counted, limit); err != nil {
		return nil, 0, err
	}
	return found, counted.total, nil
}

// firstLook returns the newest days, where a page is looked for first.
func firstLook(f Filter, p *Position) span {
	newest := time.Now() // only where to begin: what happens later, by clocks that are ahead, is looked for as well
	if f.To != nil {
		newest = minTime(newest, *f.To)
	}
	if p != nil {
		newest = minTime(newest, p.CreatedAt)
	}
	edge := within(newest.Add(-recent)).Truncate(dayLength)
	return span{after: p, from: &edge}
}

// look reads the first events of a span, and counts the list meanwhile.
func (l *Lister) look(ctx context.Context, account uuid.UUID, f Filter, s span, limit int64) (found []Event, counted tally, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		counted, err = l.tally(groupCtx, account, f, false)
		return err
	})
	group.Go(func() (err error) {
		found, err = l.read(groupCtx, account, pageStatement(f, s, 0, limit))
		return err
	})
	err = group.Wait()
	return found, counted, err
}

// complete adds to the events of a span that has no end what is before it, if the page is not full.
func (l *Lister) complete(ctx context.Context, account uuid.UUID, f Filter, s span, found []Event, counted tally, limit int64) ([]Event, error) {
	switch {
	case int64(len(found)) >= limit, f.From != nil && !f.From.Before(*s.from):
		return found, nil
	case s.after == nil && counted.days == nil && int64(len(found)) >= counted.total:
		return found, nil // where days are counted, they say it better: another event may have come since
	}
	rest, err := l.further(ctx, account, f, span{after: s.after, before: s.from}, counted.days, limit-int64(len(found)))
	return append(found, rest...), err
}

// further returns the first events of a span that ends with a whole day.
func (l *Lister) further(ctx context.Context, account uuid.UUID, f Filter, s span, days []day, limit int64) ([]Event, error) {
	if days == nil {
		from := within(s.before.Add(-once))
		found, err := l.read(ctx, account, pageStatement(f, span{after: s.after, from: &from, before: s.before}, 0, limit))
		if err != nil || int64(len(found)) >= limit || f.From != nil && !f.From.Before(from) {
			return found, err
		}
		rest, err := l.read(ctx, account, pageStatement(f, span{after: s.after, before: &from}, 0, limit-int64(len(found))))
		return append(found, rest...), err
	}
	chosen, all := choose(days, *s.before, limit)
	if len(chosen) == 0 {
		return nil, nil
	}
	oldest, end := chosen[len(chosen)-1].start, chosen[0].until()
	found, err := l.read(ctx, account, pageStatement(f, span{after: s.after, from: &oldest, before: &end, days: chosen}, 0, limit))
	if err != nil || all || int64(len(found)) >= limit {
		return found, err
	}
	// Some of what was counted left meanwhile.
	rest, err := l.read(ctx, account, pageStatement(f, span{after: s.after, before: &oldest}, 0, limit-int64(len(found))))
	return append(found, rest...), err
}

// choose returns the newest days before a time that have enough events, and whether these are all.
func choose(days []day, before time.Time, enough int64) (chosen []day, all bool) {
	for i, d := range days {
		if !d.start.Before(before) {
			continue
		}
		chosen = append(chosen, d)
		if enough -= d.events; enough <= 0 {
			return chosen, i == len(days)-1
		}
	}
	return chosen, true
}

// skip returns events of the list after the first offset ones. Whole days are skipped by their numbers, so
// that a page deep in the list reads little more than the first one.
func (l *Lister) skip(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) ([]Event, int64, error) {
	counted, err := l.tally(ctx, account, f, true)
	if err != nil || offset >= counted.total {
		return nil, counted.total, err
	}
	days := counted.days
	for len(days) > 0 && days[0].events <= offset {
		offset -= days[0].events
		days = days[1:]
	}
	end := days[0].until()
	chosen, _ := choose(days, end, offset+limit)
	found, err := l.read(ctx, account, pageStatement(f, span{from: &chosen[len(chosen)-1].start, before: &end, days: chosen}, offset, limit))
	return found, counted.total, err
}

const (
	// The wide columns are read for the rows of the page only: ClickHouse finds those by the
	// columns of the order and of the filter first.
	selection = `SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset
FROM lodestone.events
`
	// The order of the table's key, backwards, as a whole: with a part of it, or more than it,
	// ClickHouse would read everything and sort.
	order = `
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
`
)

// mostDays is how many days a statement names as a whole; beyond that it names the first and the last one only.
const mostDays = 100

func pageStatement(f Filter, s span, offset, limit int64) scope.Statement {
	conditions, also := f.conditions(), map[string]string{}
	if s.from != nil {
		conditions = append(conditions, createdFrom("span_from", *s.from))
	}
	if s.before != nil {
		conditions = append(conditions, createdBefore("span_before", *s.before))
	}
	if sql, params := s.onDays(); sql != "" {
		conditions = append(conditions, condition{sql: sql})
		maps.Copy(also, params)
	}
	if p := s.after; p != nil {
		conditions = append(conditions,
			// Implied by the next one, but the primary key is not searched by a tuple's first element.
			condition{"created_at <= fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC')", "cursor_created_at", milliseconds(p.CreatedAt)},
			condition{`(created_at, kafka_topic_id, kafka_partition, kafka_offset)
    < (fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC'), {cursor_topic:UUID}, {cursor_partition:Int32}, {cursor_offset:Int64})`, "cursor_topic", p.TopicID.String()},
		)
		also["cursor_partition"] = strconv.FormatInt(int64(p.Partition), 10)
		also["cursor_offset"] = strconv.FormatInt(p.Offset, 10)
	}
	where, params := conjunction(conditions)
	maps.Copy(params, also)
	params["limit"] = strconv.FormatInt(limit, 10)
	ending := "LIMIT {limit:UInt64}"
	if offset > 0 {
		params["offset"] = strconv.FormatInt(offset, 10)
		ending += " OFFSET {offset:UInt64}"
	}
	// No projection has the order of a page, and finding that out costs the server about half a millisecond each.
	return scope.Statement{Name: "event page", SQL: selection + where + order + ending, Params: params, Projection: scope.NoProjection}
}

// array returns the text of a parameter that is an array of times.
func array(times []time.Time, layout string) string {
	texts := make([]string, len(times))
	for i, t := range times {
		texts[i] = "'" + t.UTC().Format(layout) + "'"
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// onDays returns the condition for the days of a span, and its parameters: times where a day tells them, else all of the day. It
// is empty if the bounds of the span say it as well, or if there are too many to be named.
func (s span) onDays() (sql string, params map[string]string) {
	var whole, times []time.Time
	for _, d := range s.days {
		if len(d.times) > 0 {
			times = append(times, d.times...)
		} else {
			whole = append(whole, d.start)
		}
	}
	if len(whole) > mostDays || len(s.days) == 1 && len(times) == 0 {
		return "", nil
	}
	var anyOf []string
	params = map[string]string{}
	if len(whole) > 0 {
		anyOf, params["days"] = append(anyOf, "toDate(created_at) IN {days:Array(Date)}"), array(whole, time.DateOnly)
	}
	if len(times) > 0 {
		anyOf, params["times"] = append(anyOf, "created_at IN {times:Array(DateTime64(3, 'UTC'))}"), array(times, "2006-01-02 15:04:05.000")
	}
	if sql = strings.Join(anyOf, " OR "); len(anyOf) > 1 {
		sql = "(" + sql + ")"
	}
	return sql, params
}

func conjunction(conditions []condition) (where string, params map[string]string) {
	params = map[string]string{}
	var b strings.Builder
	b.WriteString("WHERE account_id = {account:UUID}")
	for _, c := range conditions {
		b.WriteString("\n  AND " + c.sql)
		if c.param != "" {
			params[c.param] = c.value
		}
	}
	return b.String(), params
}
