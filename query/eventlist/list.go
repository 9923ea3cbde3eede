package eventlist

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/query/scope"
)

// Event is one event of a list.
type Event struct {
	ID           uuid.UUID // unique within the access link
	AccessLinkID uuid.UUID
	Type         string
	Data         []byte   // a JSON object
	IPHash       [16]byte // zero: withheld
	UserAgent    string   // empty: withheld
	Position     Position
	AccountID    uuid.UUID // of what Stored returns
}

// Lister reads event lists. It is safe for concurrent use.
type Lister struct{ ch *scope.ClickHouse }

// New returns a Lister that reads from ClickHouse.
func New(ch *scope.ClickHouse) *Lister { return &Lister{ch} }

// Settled returns a time up to which every event that was ever stored can be seen by what is read
// after this call: the next pull of what is new loses nothing if it goes on there. It is some
// seconds back, or as far as the longest insert that still runs.
func (l *Lister) Settled(ctx context.Context) (time.Time, error) { return l.ch.Settled(ctx) }

// Count returns how many events of the account the filter lets through.
func (l *Lister) Count(ctx context.Context, account uuid.UUID, f Filter) (int64, error) {
	total, _, err := l.count(ctx, account, f)
	return total, err
}

// Page returns up to limit events, newest first, after the first offset ones, and how many the list
// has. The count and the events are not read at the same instant.
func (l *Lister) Page(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) ([]Event, int64, error) {
	if offset == 0 {
		return l.search(ctx, account, f, nil, limit)
	}
	return l.skip(ctx, account, f, offset, limit)
}

// After returns up to limit events, newest first, that come after the position, and how many the
// whole list has. Events that are stored meanwhile neither move nor hide the others.
func (l *Lister) After(ctx context.Context, account uuid.UUID, f Filter, p Position,
	limit int64) ([]Event, int64, error) {
	return l.search(ctx, account, f, &p, limit)
}

// Stored returns up to limit events of some accounts that were stored after a time and up to
// another one, in the order of the log, from the first one behind a position there; nil: from the
// first one.
func (l *Lister) Stored(ctx context.Context, accounts []uuid.UUID, f Filter, after, until time.Time, behind *Position,
	limit int) (events []Event, err error) {
	err = l.ch.Follow(ctx, accounts, storedStatement(f, after, until, behind, limit), func(row scope.Row) error {
		var account uuid.UUID
		e, err := scan(row, &account)
		e.AccountID = account
		events = append(events, e)
		return err
	})
	return events, err
}

// recent is how far back a page is looked for while the list is counted.
const recent = 2 * dayLength

// search returns the first events of the list, or the first ones after a position, and counts the
// list.
//
// Every part of the table that may hold an event of a page costs about as much as the page itself,
// and most pages are of what happened last. So the newest days are read while the list is counted.
// If they have too few events, the count tells on which days the others are.
func (l *Lister) search(ctx context.Context, account uuid.UUID, f Filter, after *Position,
	limit int64) (found []Event, total int64, err error) {
	edge := newest(f, after).Add(-recent).Truncate(dayLength)
	var days []day
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		total, days, err = l.count(groupCtx, account, f)
		return err
	})
	group.Go(func() (err error) {
		found, err = l.read(groupCtx, account, pageStatement(f, span{after: after, created: period{from: &edge}}, 0, limit))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	if int64(len(found)) < limit {
		rest, err := l.further(ctx, account, f, after, daysBefore(days, edge), limit-int64(len(found)))
		return append(found, rest...), total, err
	}
	return found, total, nil
}

// newest returns a time that hardly any event of the list, or of what comes after a position, was
// created after. By clocks that are ahead, some may be.
func newest(f Filter, after *Position) time.Time {
	t := time.Now()
	if f.To != nil && f.To.Before(t) {
		t = *f.To
	}
	if after != nil && after.CreatedAt.Before(t) {
		t = after.CreatedAt
	}
	return within(t)
}

// further returns the first events on some days of the list, or the first ones after a position.
func (l *Lister) further(ctx context.Context, account uuid.UUID, f Filter, after *Position, days []day,
	limit int64) ([]Event, error) {
	chosen := choose(days, limit)
	if len(chosen) == 0 {
		return nil, nil
	}
	found, err := l.read(ctx, account, pageStatement(f, on(chosen, after), 0, limit))
	if err != nil || len(chosen) == len(days) || int64(len(found)) >= limit {
		return found, err
	}
	// Events that were counted were deleted before they were read.
	rest, err := l.further(ctx, account, f, after, days[len(chosen):], limit-int64(len(found)))
	return append(found, rest...), err
}

// skip returns events of the list after the first offset ones, and counts the list. Whole days are
// skipped by their numbers, so that a page deep in the list reads little more than the first one.
func (l *Lister) skip(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) ([]Event, int64, error) {
	total, days, err := l.count(ctx, account, f)
	if err != nil || offset >= total {
		return nil, total, err
	}
	for len(days) > 0 && days[0].events <= offset {
		offset -= days[0].events
		days = days[1:]
	}
	found, err := l.read(ctx, account, pageStatement(f, on(choose(days, offset+limit), nil), offset, limit))
	return found, total, err
}

// daysBefore returns the days, newest first, that are over at a time.
func daysBefore(days []day, t time.Time) []day {
	for len(days) > 0 && !days[0].start.Before(t) {
		days = days[1:]
	}
	return days
}

// choose returns as many of the days, newest first, as have enough events.
func choose(days []day, enough int64) []day {
	for i, d := range days {
		if enough -= d.events; enough <= 0 {
			return days[:i+1]
		}
	}
	return days
}

// read runs a statement whose rows are events.
func (l *Lister) read(ctx context.Context, account uuid.UUID, s scope.Statement) ([]Event, error) {
	var events []Event
	err := l.ch.Query(ctx, account, s, func(row scope.Row) error {
		e, err := scan(row)
		events = append(events, e)
		return err
	})
	return events, err
}

// scan returns the event of a row, which may have more columns.
func scan(row scope.Row, more ...any) (e Event, err error) {
	var hash []byte
	var created time.Time
	err = row.Scan(append([]any{&e.ID, &e.AccessLinkID, &e.Type, &e.Data, &hash, &e.UserAgent,
		&created, &e.Position.TopicID, &e.Position.Partition, &e.Position.Offset}, more...)...)
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	copy(e.IPHash[:], hash)
	e.Position.CreatedAt = created.UTC()
	return e, nil
}

// span is where a statement looks for events of a list.
type span struct {
	after   *Position // only what comes after it in the list; nil: from the beginning
	created period
	days    []day // created on one of them, at its times if they are known; nil: on any
}

// on returns the span of some days, newest first.
func on(days []day, after *Position) span {
	end := days[0].end()
	return span{after, period{&days[len(days)-1].start, &end}, days}
}

const (
	// The wide columns are read for the rows of the page only: ClickHouse finds those by the
	// columns of the order and of the filter first.
	columns = `SELECT
    event_id, access_link_id, event_type, event_data, ip_hash, user_agent,
    created_at, kafka_topic_id, kafka_partition, kafka_offset`
	selection = columns + "\nFROM lodestone.events\n"
	// The order of the table's key, backwards, all of it: with a part of it, or more than it,
	// ClickHouse would read everything and sort.
	order = `
ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC
`
)

// maxDays is up to how many days a statement names; of more, it names the first and the last only.
const maxDays = 100

// conditions lets through what is in the span.
func (s span) conditions() []condition {
	list := s.created.conditions("span_from", "span_to")
	if days := s.onDays(); len(days.params) > 0 {
		list = append(list, days)
	}
	if p := s.after; p != nil {
		created := param{"cursor_created_at", milliseconds(p.CreatedAt)}
		list = append(list,
			// Implied by the next one, but the primary key is not searched by a tuple's first element.
			condition{"created_at <= fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC')", []param{created}},
			condition{`(created_at, kafka_topic_id, kafka_partition, kafka_offset)
    < (fromUnixTimestamp64Milli({cursor_created_at:Int64}, 'UTC'), {cursor_topic:UUID}, {cursor_partition:Int32}, {cursor_offset:Int64})`, []param{
				created, {"cursor_topic", p.TopicID.String()},
				{"cursor_partition", strconv.FormatInt(int64(p.Partition), 10)}, {"cursor_offset", strconv.FormatInt(p.Offset, 10)},
			}})
	}
	return list
}

// onDays returns the condition for the days of a span: their times where these are known, else all
// of the day. It has no parameters if the bounds of the span say it as well, or if there are too
// many days to name.
func (s span) onDays() condition {
	var days, times []time.Time
	for _, d := range s.days {
		if len(d.times) > 0 {
			times = append(times, d.times...)
		} else {
			days = append(days, d.start)
		}
	}
	if len(days) > maxDays || len(s.days) == 1 && len(times) == 0 {
		return condition{}
	}
	var anyOf []string
	var params []param
	if len(days) > 0 {
		anyOf, params = append(anyOf, "toDate(created_at) IN {days:Array(Date)}"),
			append(params, param{"days", array(days, time.DateOnly)})
	}
	if len(times) > 0 {
		anyOf, params = append(anyOf, "created_at IN {times:Array(DateTime64(3, 'UTC'))}"),
			append(params, param{"times", array(times, "2006-01-02 15:04:05.000")})
	}
	sql := strings.Join(anyOf, " OR ")
	if len(anyOf) > 1 {
		sql = "(" + sql + ")"
	}
	return condition{sql, params}
}

// array returns the text of a parameter that is an array of times.
func array(times []time.Time, layout string) string {
	texts := make([]string, len(times))
	for i, t := range times {
		texts[i] = "'" + t.UTC().Format(layout) + "'"
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// pageStatement reads events of the list in a span, newest first.
func pageStatement(f Filter, s span, offset, limit int64) scope.Statement {
	clause, params := where(append(f.conditions(), s.conditions()...))
	params["limit"] = strconv.FormatInt(limit, 10)
	ending := "LIMIT {limit:UInt64}"
	if offset > 0 {
		params["offset"] = strconv.FormatInt(offset, 10)
		ending += " OFFSET {offset:UInt64}"
	}
	// No projection has the order of a page, and finding that out costs the server about half a
	// millisecond each.
	return scope.Statement{Name: "event page", Whole: true, SQL: selection + clause + order + ending, Params: params,
		Projection: scope.NoProjection}
}

// storedStatement reads events of the lists of some accounts by when they were stored.
func storedStatement(f Filter, after, until time.Time, behind *Position, limit int) scope.Statement {
	conditions := append(f.conditions(), condition{"stored_at > fromUnixTimestamp64Milli({stored_after:Int64}, 'UTC')" +
		" AND stored_at <= fromUnixTimestamp64Milli({stored_until:Int64}, 'UTC')", []param{
		{"stored_after", milliseconds(after)}, {"stored_until", milliseconds(until)},
	}})
	if behind != nil {
		conditions = append(conditions,
			condition{"(kafka_topic_id, kafka_partition, kafka_offset) > ({topic:UUID}, {partition:Int32}, {offset:Int64})",
				[]param{
					{"topic", behind.TopicID.String()}, {"partition", strconv.FormatInt(int64(behind.Partition), 10)},
					{"offset", strconv.FormatInt(behind.Offset, 10)},
				}})
	}
	clause, params := whereOf("account_id IN {accounts:Array(UUID)}", conditions)
	params["limit"] = strconv.Itoa(limit)
	return scope.Statement{
		Name: "stored events", Params: params, Projection: scope.NoProjection,
		SQL: columns + ",\n    account_id\nFROM lodestone.events\n" + clause +
			"\nORDER BY kafka_topic_id, kafka_partition, kafka_offset\nLIMIT {limit:UInt64}",
	}
}
