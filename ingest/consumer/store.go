package consumer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// store is what one worker does in ClickHouse, over a connection of its own. It is used by one goroutine.
type store struct {
	connection
	table     string
	link      string // column of the link's id
	topicID   uuid.UUID
	partition int32
	replays   bool // inserts dead letters, not blocks
}

// queryPrefix begins the id of every insert of a kind for the partition, so that whoever goes on can find
// those that still run.
func (s *store) queryPrefix(kind string) string {
	return fmt.Sprintf("lodestone-%s-%s-%d-", kind, s.topicID, s.partition)
}

// The kinds of inserts.
const (
	kindBlock  = "insert"
	kindReplay = "replay"
)

func (s *store) kind() string {
	if s.replays {
		return kindReplay
	}
	return kindBlock
}

// insert stores the rows as one block under the token. A nil error means that they are stored, or
// that ClickHouse remembers the token; any error leaves it open whether they are, or will be.
//
// The insert has to begin before the deadline of ctx. That is not left to this process, which may
// be stopped after its last look at the clock and go on much later: the server refuses rows that
// come too late by its own clock, and drops a connection that stops in the middle of an insert.
func (s *store) insert(ctx context.Context, by *connection, rows table, token string) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return errors.New("insert into ClickHouse: there is no deadline")
	}
	before, err := by.bound(ctx, deadline)
	if err != nil {
		return err
	}
	return s.insertBefore(ctx, by, rows, token, before)
}

// leastFreeDisk is how many bytes ClickHouse must have left of its disk for an insert. It is far more than one block takes.
const leastFreeDisk = "268435456"

// insertBefore does so if the server's clock shows less than the time given.
func (s *store) insertBefore(ctx context.Context, by *connection, rows table, token string, before time.Time) error {
	q := insertQuery(s.table, rows.input(before), token)
	q.QueryID = s.queryPrefix(s.kind()) + token[strings.LastIndexByte(token, ':')+1:] + "-" + uuid.NewString()
	if err := by.do(ctx, q); err != nil {
		return fmt.Errorf("insert into ClickHouse: %w", err)
	}
	return nil
}

// insertQuery returns the statement that stores the columns as one block under the token.
func insertQuery(table string, input proto.Input, token string) ch.Query {
	return ch.Query{
		Body:  input.Into(table),
		Input: input,
		Settings: []ch.Setting{
			// An asynchronous insert takes no deduplication token.
			{Key: "async_insert", Value: "0", Important: true},
			{Key: "insert_deduplicate", Value: "1", Important: true},
			{Key: "insert_deduplication_token", Value: token, Important: true},
			{Key: "deduplicate_blocks_in_dependent_materialized_views", Value: "1", Important: true},
			// A disk that fills up in the middle of an insert has left a part of empty files behind, which
			// ClickHouse acknowledged (26.7): nothing is inserted that might get there.
			{Key: "min_free_disk_bytes_to_perform_insert", Value: leastFreeDisk, Important: true},
			// A writer that hangs is cut off by the server well before its token can be forgotten.
			{Key: "receive_timeout", Value: "30", Important: true},
		},
	}
}

// kill ends every insert for the partition that still runs, whoever began it, and returns when
// none does. Whoever replays dead letters leaves blocks alone: they are of other offsets.
func (s *store) kill(ctx context.Context) error {
	var status, queryID, user, text proto.ColStr
	err := s.do(ctx, ch.Query{
		Body:       "KILL QUERY WHERE startsWith(query_id, {own:String}) OR startsWith(query_id, {replay:String}) SYNC",
		Parameters: ch.Parameters(map[string]any{"own": s.queryPrefix(s.kind()), "replay": s.queryPrefix(kindReplay)}),
		Result: proto.Results{
			{Name: "kill_status", Data: &status},
			{Name: "query_id", Data: &queryID},
			{Name: "user", Data: &user},
			{Name: "query", Data: &text},
		},
		OnResult: func(context.Context, proto.Block) error { return nil },
	})
	if err != nil {
		return fmt.Errorf("end inserts that still run: %w", err)
	}
	return nil
}

// last returns the highest stored offset at or after from, or from-1 if there is none.
func (s *store) last(ctx context.Context, from int64) (int64, error) {
	var last proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body: "SELECT max(kafka_offset) AS last FROM " + s.table +
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

// repeatWithin is how far apart the times of an event and of its repeat may lie for storedBefore to see that they are
// the same. Both are between the time of receipt, by the clock of the collector that received the record, and 48 hours
// before it. So this finds all repeats whose collectors' clocks, together with the time between the two sendings, differ
// by a day at the most. It bounds what a look reads: without it, each look would read all that an account ever stored,
// and draining a spool would never catch up.
const repeatWithin = 72 * time.Hour

// anyTime is no such bound. It covers every time that an event can have.
const anyTime = 150 * 365 * 24 * time.Hour

// mostLookedFor is how many events one look names. Each look reads the same rows, so few large ones are faster; but 80,000 in
// one take 38 s, as beyond some number ClickHouse looks for each in each granule (26.7).
const mostLookedFor = 20_000

// manyLookedFor is the number of events from which a look does without skip indexes: nearly every granule has to be read for so many, and
// asking the indexes about each takes longer. 80,000 events among six million rows: 7.5 s with the indexes in looks of 10,000, 2.4 s without
// them in looks of 20,000, in one run.
const manyLookedFor = 1_000

// storedBefore returns which of the events are stored already, but for rows of this partition at or
// after the offset: those may be the same records. It looks at events whose times lie within the duration of theirs.
func (s *store) storedBefore(ctx context.Context, events []decoded, offset int64, within time.Duration) (map[identity]struct{}, error) {
	found := make(map[identity]struct{})
	for some := range slices.Chunk(events, mostLookedFor) {
		if err := s.look(ctx, some, offset, within, found); err != nil {
			return nil, fmt.Errorf("look for events stored long ago: %w", err)
		}
	}
	return found, nil
}

// look adds those of the events to found that are stored already.
func (s *store) look(ctx context.Context, events []decoded, offset int64, within time.Duration, found map[identity]struct{}) error {
	accounts, links, ids := make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events)), make([]uuid.UUID, len(events))
	oldest, newest := events[0].createdAt, events[0].createdAt
	for i, e := range events {
		accounts[i], links[i], ids[i] = e.account, e.link, e.event
		oldest, newest = min(oldest, e.createdAt), max(newest, e.createdAt)
	}
	var settings []ch.Setting
	if len(events) >= manyLookedFor {
		settings = []ch.Setting{{Key: "use_skip_indexes", Value: "0", Important: true}}
	}
	var link, id proto.ColUUID
	return s.do(ctx, ch.Query{
		Settings: settings,
		Body: "SELECT " + s.link + " AS link, event_id FROM " + s.table +
			" WHERE account_id IN {accounts:Array(UUID)} AND " + s.link + " IN {links:Array(UUID)} AND event_id IN {ids:Array(UUID)}" +
			" AND created_at >= fromUnixTimestamp64Milli({oldest:Int64}, 'UTC') AND created_at <= fromUnixTimestamp64Milli({newest:Int64}, 'UTC')" +
			" AND NOT (kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {offset:Int64})",
		Parameters: s.parameters(map[string]any{
			"accounts": list(accounts), "links": list(links), "ids": list(ids), "offset": offset,
			"oldest": max(0, oldest-within.Milliseconds()), "newest": newest + within.Milliseconds(),
		}),
		Result: proto.Results{{Name: "link", Data: &link}, {Name: "event_id", Data: &id}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range link.Rows() {
				found[identity{link: link.Row(i), event: id.Row(i)}] = struct{}{}
			}
			return nil
		},
	})
}

// list returns an Array(UUID) parameter as ch-go needs it: it puts quotes around values, but does
// not escape those within.
func list(ids []uuid.UUID) string { return strings.ReplaceAll(clickhouse.UUIDs(ids), "'", `\'`) }

func (s *store) parameters(more map[string]any) []proto.Parameter {
	more["topic"] = s.topicID.String()
	more["partition"] = s.partition
	return ch.Parameters(more)
}
