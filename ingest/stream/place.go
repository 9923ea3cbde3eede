package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// SameTime stands for rows that have the time of a record, as its own row has.
const SameTime time.Duration = 0

// RepeatWithin is how far apart the times of an event and of its repeat may lie for StoredBefore to
// see that they are the same. Both are between the time of receipt, by the clock of the collector
// that received the record, and 48 hours before it. So this finds all repeats whose collectors'
// clocks, together with the time between the two sendings, differ by a day at the most. It bounds
// what a look reads: without it, each look would read all that an account ever stored, and draining
// a spool would never catch up.
const RepeatWithin = 72 * time.Hour

// AnyTime is a duration without such a bound: it covers every time that an event can have.
const AnyTime = 150 * 365 * 24 * time.Hour

// step is the step in which rows of SameTime are found. An hour of a busy account has millions of
// rows, which each look into that hour would read again.
const step = 10 * time.Second

// times are the times at which some records were created, in milliseconds.
type times struct {
	oldest, newest int64
	steps          map[int64]struct{}
}

func (t *times) add(at int64) {
	if t.steps == nil {
		t.oldest, t.newest, t.steps = at, at, map[int64]struct{}{}
	}
	t.oldest, t.newest = min(t.oldest, at), max(t.newest, at)
	t.steps[at/step.Milliseconds()] = struct{}{}
}

// within returns the condition that selects rows whose times lie within the duration of these, and
// its parameters.
func (t *times) within(d time.Duration) (condition string, parameters map[string]any) {
	if d == SameTime {
		return " AND intDiv(toUnixTimestamp64Milli(created_at), {step:Int64}) IN {steps:Array(Int64)}",
			map[string]any{"step": step.Milliseconds(), "steps": clickhouse.Numbers(slices.Collect(maps.Keys(t.steps)))}
	}
	return " AND created_at >= fromUnixTimestamp64Milli({oldest:Int64}, 'UTC') AND created_at <= fromUnixTimestamp64Milli({newest:Int64}, 'UTC')",
		map[string]any{"oldest": max(0, t.oldest-d.Milliseconds()), "newest": t.newest + d.Milliseconds()}
}

// placesAtOnce is how many events one query of Places asks for.
const placesAtOnce = 2_000

// Places returns under which offsets the events of the records are stored, as far as the rows'
// times lie within the duration of the records'. Those that are not stored are not in it.
func (s Stream) Places(ctx context.Context, conn driver.Conn, records []Record,
	within time.Duration) (map[Identity][]Place, error) {
	found := map[Identity][]Place{}
	query := "SELECT " + s.Link + ", event_id, kafka_topic_id, kafka_partition, kafka_offset FROM lodestone." + s.Table +
		" WHERE account_id IN {accounts:Array(UUID)} AND " + s.Link +
		" IN {links:Array(UUID)} AND event_id IN {events:Array(UUID)}"
	for chunk := range slices.Chunk(records, placesAtOnce) {
		wanted, of := make(map[Identity]struct{}, len(chunk)), times{}
		accounts, links, events := map[uuid.UUID]struct{}{}, map[uuid.UUID]struct{}{}, map[uuid.UUID]struct{}{}
		for _, r := range chunk {
			wanted[r.Identity] = struct{}{}
			accounts[r.Account], links[r.Link], events[r.Event] = struct{}{}, struct{}{}, struct{}{}
			of.add(r.CreatedAt)
		}
		bounds, values := of.within(within)
		parameters := native.Parameters{}
		for name, value := range values {
			parameters[name] = fmt.Sprint(value)
		}
		for name, ids := range map[string]map[uuid.UUID]struct{}{"accounts": accounts, "links": links, "events": events} {
			parameters[name] = clickhouse.UUIDs(slices.Collect(maps.Keys(ids)))
		}
		rows, err := conn.Query(native.Context(ctx, native.WithParameters(parameters)), query+bounds)
		if err != nil {
			return nil, fmt.Errorf("look for stored events: %w", err)
		}
		for rows.Next() {
			var id Identity
			var at Place
			if err = rows.Scan(&id.Link, &id.Event, &at.TopicID, &at.Partition, &at.Offset); err != nil {
				break
			}
			if _, ok := wanted[id]; ok {
				found[id] = append(found[id], at)
			}
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, fmt.Errorf("look for stored events: %w", err)
		}
	}
	return found, nil
}
