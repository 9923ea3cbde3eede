package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// Span is a range of offsets of a partition.
type Span struct {
	Partition   int32
	First, Last int64
}

// SpansAtOnce is how many spans one statement names. Each is read from the projection by offset on
// its own.
const SpansAtOnce = 50

// Where returns the condition that a row is in one of the spans of the topic, and its parameters.
func Where(topicID uuid.UUID, spans []Span) (condition string, parameters map[string]any) {
	var where strings.Builder
	parameters = map[string]any{"topic": topicID.String()}
	where.WriteString("kafka_topic_id = {topic:UUID} AND (")
	for i, span := range spans {
		if i > 0 {
			where.WriteString(" OR ")
		}
		n := strconv.Itoa(i)
		where.WriteString("kafka_partition = {p" + n + ":Int32} AND kafka_offset >= {f" + n +
			":Int64} AND kafka_offset <= {l" + n + ":Int64}")
		parameters["p"+n], parameters["f"+n], parameters["l"+n] = span.Partition, span.First, span.Last
	}
	where.WriteString(")")
	return where.String(), parameters
}

// eachSpans runs the statement for the spans, some at a time, with the condition that a row is in
// one of them after its text.
func (s *Store) eachSpans(spans []Span, run func(where string, parameters map[string]any) error) error {
	for some := range slices.Chunk(spans, SpansAtOnce) {
		condition, parameters := Where(s.TopicID, some)
		if err := run(" WHERE "+condition, parameters); err != nil {
			return err
		}
	}
	return nil
}

// Stored returns which offsets of each span are stored, by partition. A partition has one span.
func (s *Store) Stored(ctx context.Context, spans []Span) (map[int32]*Offsets, error) {
	found := make(map[int32]*Offsets, len(spans))
	for _, span := range spans {
		found[span.Partition] = NewOffsets(span.First, span.Last)
	}
	var partition proto.ColInt32
	var offset proto.ColInt64
	err := s.eachSpans(spans, func(where string, parameters map[string]any) error {
		return s.do(ctx, ch.Query{
			Body:       "SELECT kafka_partition, kafka_offset FROM " + s.Stream.Table + where,
			Parameters: ch.Parameters(parameters),
			Result:     proto.Results{{Name: "kafka_partition", Data: &partition}, {Name: "kafka_offset", Data: &offset}},
			OnResult: func(context.Context, proto.Block) error {
				for i := range offset {
					found[partition[i]].Add(offset[i])
				}
				return nil
			},
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return found, nil
}

// Last returns the highest stored offset of each span, by partition. Partitions without one are not
// in it.
func (s *Store) Last(ctx context.Context, spans []Span) (map[int32]int64, error) {
	found := make(map[int32]int64, len(spans))
	var partition proto.ColInt32
	var last proto.ColInt64
	err := s.eachSpans(spans, func(where string, parameters map[string]any) error {
		return s.do(ctx, ch.Query{
			Body: "SELECT kafka_partition, max(kafka_offset) AS last FROM " + s.Stream.Table + where +
				" GROUP BY kafka_partition",
			Parameters: ch.Parameters(parameters),
			Result:     proto.Results{{Name: "kafka_partition", Data: &partition}, {Name: "last", Data: &last}},
			OnResult: func(context.Context, proto.Block) error {
				for i := range last {
					found[partition[i]] = last[i]
				}
				return nil
			},
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the last stored offsets: %w", err)
	}
	return found, nil
}

// newestRows is how many rows of a partition Newest returns.
const newestRows = 16

// Same returns which of some rows of the table are stored with the event that they have at their
// offset. The projection by offset does not have the event's id: the rows are found by account and
// time, among those of all partitions.
func (s *Store) Same(ctx context.Context, rows Table, which []int) (map[int]struct{}, error) {
	offsets, partitions := rows.Offsets(), rows.Partitions()
	accounts, of := map[uuid.UUID]struct{}{}, times{}
	at := make(map[Place]int, len(which))
	spans := map[int32]*Span{}
	for _, row := range which {
		d, p, offset := rows.Record(row), partitions[row], offsets[row]
		accounts[d.Account] = struct{}{}
		of.add(d.CreatedAt)
		at[Place{Partition: p, Offset: offset}] = row
		if spans[p] == nil {
			spans[p] = &Span{p, offset, offset}
		}
		spans[p].First, spans[p].Last = min(spans[p].First, offset), max(spans[p].Last, offset)
	}
	found := make(map[int]struct{}, len(which))
	also, more := of.within(SameTime)
	more["accounts"] = list(slices.Collect(maps.Keys(accounts)))
	err := s.identities(ctx, spans, also, more, func(place Place, stored Identity) {
		if row, ok := at[place]; ok && rows.Record(row).Identity == stored {
			found[row] = struct{}{}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read stored events: %w", err)
	}
	return found, nil
}

// identities calls each for the rows of some accounts in the spans. Places have no topic.
func (s *Store) identities(ctx context.Context, spans map[int32]*Span, also string, more map[string]any,
	each func(at Place, stored Identity)) error {
	var all []Span
	for _, span := range spans {
		all = append(all, *span)
	}
	var (
		partition   proto.ColInt32
		offset      proto.ColInt64
		link, event proto.ColUUID
	)
	return s.eachSpans(all, func(where string, parameters map[string]any) error {
		maps.Copy(parameters, more)
		return s.do(ctx, ch.Query{
			Body: "SELECT kafka_partition, kafka_offset, " + s.Stream.Link +
				" AS link, event_id FROM " + s.Stream.Table + where +
				" AND account_id IN {accounts:Array(UUID)}" + also,
			Parameters: ch.Parameters(parameters),
			Result: proto.Results{
				{Name: "kafka_partition", Data: &partition}, {Name: "kafka_offset", Data: &offset}, {Name: "link", Data: &link},
				{Name: "event_id", Data: &event},
			},
			OnResult: func(context.Context, proto.Block) error {
				for i := range offset {
					each(Place{Partition: partition[i], Offset: offset[i]}, Identity{Link: link.Row(i), Event: event.Row(i)})
				}
				return nil
			},
		})
	})
}

// Newest returns the identities of the last rows of each span. Places have no topic.
func (s *Store) Newest(ctx context.Context, spans []Span) (map[Place]Identity, error) {
	var (
		partition     proto.ColInt32
		offset        proto.ColInt64
		account, link proto.ColUUID
	)
	newest := map[int32]*Span{}
	rows := 0
	accounts, links := map[uuid.UUID]struct{}{}, map[uuid.UUID]struct{}{}
	err := s.eachSpans(spans, func(where string, parameters map[string]any) error {
		return s.do(ctx, ch.Query{ // from the projection by offset, which does not have the event's id
			Body: "SELECT kafka_partition, kafka_offset, account_id, " + s.Stream.Link +
				" AS link FROM " + s.Stream.Table + where +
				fmt.Sprintf(" ORDER BY kafka_partition, kafka_offset DESC LIMIT %d BY kafka_partition", newestRows),
			Parameters: ch.Parameters(parameters),
			Result: proto.Results{
				{Name: "kafka_partition", Data: &partition}, {Name: "kafka_offset", Data: &offset},
				{Name: "account_id", Data: &account}, {Name: "link", Data: &link},
			},
			OnResult: func(context.Context, proto.Block) error {
				for i := range offset {
					p := partition[i]
					if newest[p] == nil {
						newest[p] = &Span{p, offset[i], offset[i]}
					}
					newest[p].First = min(newest[p].First, offset[i])
					accounts[account.Row(i)], links[link.Row(i)] = struct{}{}, struct{}{}
					rows++
				}
				return nil
			},
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the last stored offsets: %w", err)
	}
	found := map[Place]Identity{}
	if rows == 0 {
		return found, nil
	}
	more := map[string]any{"accounts": list(slices.Collect(maps.Keys(accounts))),
		"links": list(slices.Collect(maps.Keys(links)))}
	// Nearly always they are of the last days, and all that an account ever stored takes long to read.
	for _, within := range []time.Duration{RepeatWithin, AnyTime} {
		more["since"] = max(0, time.Now().Add(-within).UnixMilli())
		err = s.identities(ctx, newest,
			" AND "+s.Stream.Link+" IN {links:Array(UUID)} AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')",
			more,
			func(at Place, stored Identity) { found[at] = stored })
		if err != nil {
			return nil, fmt.Errorf("read the last stored rows: %w", err)
		}
		if len(found) == rows {
			break
		}
	}
	return found, nil
}

// Candidate is an event that may be stored already: its record is of the partition, and what is
// stored of this from Offset on may be of the same record.
type Candidate struct {
	Record
	Partition int32
	Offset    int64
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

// StoredBefore returns which of the events are stored already. It looks at events whose times lie
// within the duration of theirs, on every shard that may have earlier ones.
func (s *Store) StoredBefore(ctx context.Context, events []Candidate,
	within time.Duration) (map[Identity]struct{}, error) {
	found := make(map[Identity]struct{})
	for some := range slices.Chunk(events, maxLookedFor) {
		for _, other := range s.Others { // first: if one is away, nothing has been asked in vain
			if err := s.look(ctx, other, some, within, found); err != nil {
				return nil, fmt.Errorf("look for events stored long ago on another shard: %w", err)
			}
		}
		if err := s.look(ctx, &s.Connection, some, within, found); err != nil {
			return nil, fmt.Errorf("look for events stored long ago: %w", err)
		}
	}
	return found, nil
}

// look adds those of the events to found that are stored already on the shard of a connection.
func (s *Store) look(ctx context.Context, by *Connection, events []Candidate, within time.Duration,
	found map[Identity]struct{}) error {
	accounts, links, ids := make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events))
	from := make(map[Identity]Place, len(events)) // what is stored there and behind it does not count
	var of times
	for i, e := range events {
		accounts[i], links[i], ids[i] = e.Account, e.Link, e.Event
		from[e.Identity] = Place{s.TopicID, e.Partition, e.Offset}
		of.add(e.CreatedAt)
	}
	bounds, parameters := of.within(within)
	parameters["accounts"], parameters["links"], parameters["ids"] = list(accounts), list(links), list(ids)
	var settings []ch.Setting
	if len(events) >= manyLookedFor {
		settings = []ch.Setting{{Key: "use_skip_indexes", Value: "0", Important: true}}
	}
	var link, id, topic proto.ColUUID
	var partition proto.ColInt32
	var offset proto.ColInt64
	return by.do(ctx, ch.Query{
		Settings: settings,
		Body: "SELECT " + s.Stream.Link + " AS link, event_id, kafka_topic_id, kafka_partition, kafka_offset FROM " +
			s.Stream.Table +
			" WHERE account_id IN {accounts:Array(UUID)} AND " + s.Stream.Link +
			" IN {links:Array(UUID)} AND event_id IN {ids:Array(UUID)}" + bounds,
		Parameters: ch.Parameters(parameters),
		Result: proto.Results{
			{Name: "link", Data: &link}, {Name: "event_id", Data: &id},
			{Name: "kafka_topic_id", Data: &topic}, {Name: "kafka_partition", Data: &partition},
			{Name: "kafka_offset", Data: &offset},
		},
		OnResult: func(context.Context, proto.Block) error {
			for i := range link.Rows() {
				stored := Identity{Link: link.Row(i), Event: id.Row(i)}
				bound, asked := from[stored]
				if asked && (topic.Row(i) != bound.TopicID || partition[i] != bound.Partition || offset[i] < bound.Offset) {
					found[stored] = struct{}{}
				}
			}
			return nil
		},
	})
}

// list returns an Array(UUID) parameter as ch-go needs it: it puts quotes around values, but does
// not escape those within.
func list(ids []uuid.UUID) string { return strings.ReplaceAll(clickhouse.UUIDs(ids), "'", `\'`) }

// Offsets is the set of offsets of a range that a query found stored. It takes a bit an offset.
type Offsets struct {
	first, last int64
	bits        []uint64
}

// NewOffsets returns the empty set of a range.
func NewOffsets(first, last int64) *Offsets {
	return &Offsets{first, last, make([]uint64, (last-first)/64+1)}
}

// Add adds an offset of the range.
func (o *Offsets) Add(offset int64) {
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
