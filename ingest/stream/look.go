package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// whereOffsets selects the rows of a range of the partition's offsets.
const whereOffsets = " WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}" +
	" AND kafka_offset >= {first:Int64} AND kafka_offset <= {last:Int64}"

// Stored returns which offsets from first to last are stored.
func (s *Store) Stored(ctx context.Context, first, last int64) (*Offsets, error) {
	found := newOffsets(first, last)
	var column proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body:       "SELECT kafka_offset FROM " + s.Stream.Table + whereOffsets,
		Parameters: s.parameters(map[string]any{"first": first, "last": last}),
		Result:     proto.Results{{Name: "kafka_offset", Data: &column}},
		OnResult: func(context.Context, proto.Block) error {
			for _, offset := range column {
				found.add(offset)
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return found, nil
}

// Last returns the highest stored offset at or after from, or from-1 if there is none.
func (s *Store) Last(ctx context.Context, from int64) (int64, error) {
	var last proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body: "SELECT max(kafka_offset) AS last FROM " + s.Stream.Table +
			" WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}" +
			" AND kafka_offset >= {from:Int64} HAVING count() > 0",
		Parameters: s.parameters(map[string]any{"from": from}),
		Result:     proto.Results{{Name: "last", Data: &last}},
	})
	if err != nil {
		return 0, fmt.Errorf("read the last stored offset: %w", err)
	}
	if last.Rows() == 0 {
		return from - 1, nil
	}
	return last.Row(0), nil
}

// newestRows is how many rows newest returns.
const newestRows = 16

// Same returns at which offsets a row of the same event is stored as in the table, which is not
// empty, from one of its rows on. The projection by offset does not have the event's id: the rows
// are found by account and time, among those of all partitions.
func (s *Store) Same(ctx context.Context, rows Table, from int) (*Offsets, error) {
	offsets := rows.Offsets()[from:]
	first, last := offsets[0], offsets[len(offsets)-1]
	accounts, of := map[uuid.UUID]struct{}{}, times{}
	for row := range offsets {
		d := rows.Record(from + row)
		accounts[d.Account] = struct{}{}
		of.add(d.CreatedAt)
	}
	found := newOffsets(first, last)
	also, parameters := of.within(SameTime)
	parameters["first"], parameters["last"], parameters["accounts"] = first, last, list(slices.Collect(maps.Keys(accounts)))
	err := s.identities(ctx, also, parameters, func(offset int64, stored Identity) {
		if row, ok := slices.BinarySearch(offsets, offset); ok && rows.Record(from+row).Identity == stored {
			found.add(offset)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read stored events: %w", err)
	}
	return found, nil
}

// identities calls each for the rows of some accounts between the offsets.
func (s *Store) identities(ctx context.Context, also string, parameters map[string]any, each func(offset int64, stored Identity)) error {
	var (
		offset      proto.ColInt64
		link, event proto.ColUUID
	)
	return s.do(ctx, ch.Query{
		Body:       "SELECT kafka_offset, " + s.Stream.Link + " AS link, event_id FROM " + s.Stream.Table + whereOffsets + " AND account_id IN {accounts:Array(UUID)}" + also,
		Parameters: s.parameters(parameters),
		Result:     proto.Results{{Name: "kafka_offset", Data: &offset}, {Name: "link", Data: &link}, {Name: "event_id", Data: &event}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range offset.Rows() {
				each(offset.Row(i), Identity{Link: link.Row(i), Event: event.Row(i)})
			}
			return nil
		},
	})
}

// Newest returns the identities of the last rows between the offsets.
func (s *Store) Newest(ctx context.Context, first, last int64) (map[int64]Identity, error) {
	var (
		offset        proto.ColInt64
		account, link proto.ColUUID
	)
	bounds := map[string]any{"first": first, "last": last}
	oldest := last
	var accounts, links []uuid.UUID
	err := s.do(ctx, ch.Query{ // from the projection by offset, which does not have the event's id
		Body:       "SELECT kafka_offset, account_id, " + s.Stream.Link + " AS link FROM " + s.Stream.Table + whereOffsets + fmt.Sprintf(" ORDER BY kafka_offset DESC LIMIT %d", newestRows),
		Parameters: s.parameters(bounds),
		Result:     proto.Results{{Name: "kafka_offset", Data: &offset}, {Name: "account_id", Data: &account}, {Name: "link", Data: &link}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range offset.Rows() {
				oldest = min(oldest, offset.Row(i))
				accounts, links = append(accounts, account.Row(i)), append(links, link.Row(i))
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the last stored offsets: %w", err)
	}
	found := map[int64]Identity{}
	if len(links) == 0 {
		return found, nil
	}
	bounds["first"] = oldest
	bounds["accounts"], bounds["links"] = list(accounts), list(links)
	// Nearly always they are of the last days, and all that an account ever stored takes long to read.
	for _, within := range []time.Duration{RepeatWithin, AnyTime} {
		bounds["since"] = max(0, time.Now().Add(-within).UnixMilli())
		err = s.identities(ctx, " AND "+s.Stream.Link+" IN {links:Array(UUID)} AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')", bounds,
			func(offset int64, stored Identity) { found[offset] = stored })
		if err != nil {
			return nil, fmt.Errorf("read the last stored rows: %w", err)
		}
		if len(found) == len(links) {
			break
		}
	}
	return found, nil
}

// maxLookedFor is how many events one look names. Each look reads the same rows, so few large ones
// are faster; but 80,000 in one take 38 s, as beyond some number ClickHouse looks for each in each
// granule (26.7).
const maxLookedFor = 20_000

// manyLookedFor is the number of events from which a look does without skip indexes: nearly every
// granule has to be read for so many, and asking the indexes about each takes longer. 80,000 events
// among six million rows: 7.5 s with the indexes in looks of 10,000, 2.4 s without them in looks of
// 20,000, in one run.
const manyLookedFor = 1_000

// StoredBefore returns which of the events are stored already, but for rows of this partition at or
// after the offset: those may be the same records. It looks at events whose times lie within the
// duration of theirs, on every shard that may have events of the partition's keys.
func (s *Store) StoredBefore(ctx context.Context, events []Record, offset int64, within time.Duration) (map[Identity]struct{}, error) {
	found := make(map[Identity]struct{})
	for some := range slices.Chunk(events, maxLookedFor) {
		for _, other := range s.Before { // first: if one is away, nothing has been asked in vain
			if err := s.look(ctx, &Connection{Shared: other}, some, offset, within, found); err != nil {
				return nil, fmt.Errorf("look for events stored long ago on another shard: %w", err)
			}
		}
		if err := s.look(ctx, &s.Connection, some, offset, within, found); err != nil {
			return nil, fmt.Errorf("look for events stored long ago: %w", err)
		}
	}
	return found, nil
}

// look adds those of the events to found that are stored already on the shard of a connection.
func (s *Store) look(ctx context.Context, by *Connection, events []Record, offset int64, within time.Duration, found map[Identity]struct{}) error {
	accounts, links, ids := make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events))
	var of times
	for i, e := range events {
		accounts[i], links[i], ids[i] = e.Account, e.Link, e.Event
		of.add(e.CreatedAt)
	}
	bounds, parameters := of.within(within)
	parameters["accounts"], parameters["links"], parameters["ids"], parameters["offset"] = list(accounts), list(links), list(ids), offset
	var settings []ch.Setting
	if len(events) >= manyLookedFor {
		settings = []ch.Setting{{Key: "use_skip_indexes", Value: "0", Important: true}}
	}
	var link, id proto.ColUUID
	return by.do(ctx, ch.Query{
		Settings: settings,
		Body: "SELECT " + s.Stream.Link + " AS link, event_id FROM " + s.Stream.Table +
			" WHERE account_id IN {accounts:Array(UUID)} AND " + s.Stream.Link + " IN {links:Array(UUID)} AND event_id IN {ids:Array(UUID)}" +
			bounds + " AND NOT (kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {offset:Int64})",
		Parameters: s.parameters(parameters),
		Result:     proto.Results{{Name: "link", Data: &link}, {Name: "event_id", Data: &id}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range link.Rows() {
				found[Identity{Link: link.Row(i), Event: id.Row(i)}] = struct{}{}
			}
			return nil
		},
	})
}

// list returns an Array(UUID) parameter as ch-go needs it: it puts quotes around values, but does
// not escape those within.
func list(ids []uuid.UUID) string { return strings.ReplaceAll(clickhouse.UUIDs(ids), "'", `\'`) }

func (s *Store) parameters(more map[string]any) []proto.Parameter {
	more["topic"] = s.TopicID.String()
	more["partition"] = s.Partition
	return ch.Parameters(more)
}

// Offsets is the set of offsets of a range that a query found stored. It takes a bit an offset.
type Offsets struct {
	first, last int64
	bits        []uint64
}

// newOffsets returns the empty set of a range.
func newOffsets(first, last int64) *Offsets {
	return &Offsets{first, last, make([]uint64, (last-first)/64+1)}
}

// add adds an offset of the range.
func (o *Offsets) add(offset int64) {
	i := offset - o.first
	o.bits[i/64] |= 1 << (i % 64)
}

// Covers reports whether the query covered the range. A nil set covers nothing.
func (o *Offsets) Covers(first, last int64) bool {
	return o != nil && o.first <= first && last <= o.last
}

// Has reports whether the offset was found. Outside of the range none was.
func (o *Offsets) Has(offset int64) bool {
	if !o.Covers(offset, offset) {
		return false
	}
	i := offset - o.first
	return o.bits[i/64]&(1<<(i%64)) != 0
}
