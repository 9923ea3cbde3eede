package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// Store inserts and looks up the rows of one partition, over a connection of its own or shared
// ones. It is used by one goroutine.
type Store struct {
	Connection
	Stream    Stream
	TopicID   uuid.UUID
	Partition int32

	Before []Shared // of other shards that may have earlier events of the partition's keys; they are read only
}

// queryPrefix begins the id of every insert for the partition, so that whoever goes on can find
// those that still run.
func (s *Store) queryPrefix() string {
	return fmt.Sprintf("lodestone-insert-%s-%d-", s.TopicID, s.Partition)
}

// largeInsert is from how many rows on the memory that a connection has for what it sends is worth
// giving back.
const largeInsert = 10_000

// Insert stores the rows as one block under the token. A nil error means that they are stored, or
// that ClickHouse remembers the token; any error leaves it open whether they are, or will be. A nil
// connection is that of the store.
//
// The insert has to begin before the deadline of ctx. That is not left to this process, which may
// be stopped after its last look at the clock and go on much later: the server refuses rows that
// come too late by its own clock, and drops a connection that stops in the middle of an insert.
func (s *Store) Insert(ctx context.Context, by *Connection, rows Table, token string) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return errors.New("insert into ClickHouse: there is no deadline")
	}
	if by == nil {
		by = &s.Connection
	}
	own, giveBack, err := by.borrow(ctx) // both statements have to reach the same server
	if err != nil {
		return err
	}
	defer giveBack()
	if own != by && len(rows.Offsets()) >= largeInsert {
		// Large blocks go around all connections of a pool, each of which would keep memory for the
		// largest.
		defer own.Close()
	}
	before, err := own.bound(ctx, deadline)
	if err != nil {
		return err
	}
	q := insertQuery(s.Stream.Table, rows.Input(before), token)
	q.QueryID = s.queryPrefix() + token[strings.LastIndexByte(token, ':')+1:] + "-" + uuid.NewString()
	if err := own.do(ctx, q); err != nil {
		return fmt.Errorf("insert into ClickHouse: %w", err)
	}
	return nil
}

// minFreeDisk is how many bytes ClickHouse must have left of its disk for an insert. It is far more
// than one block takes.
const minFreeDisk = "268435456"

// ReceiveTimeout is how long the server waits for the next bytes of an insert.
const ReceiveTimeout = 30 * time.Second

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
			{Key: "min_free_disk_bytes_to_perform_insert", Value: minFreeDisk, Important: true},
			// A writer that hangs is cut off by the server well before its token can be forgotten.
			{Key: "receive_timeout", Value: strconv.Itoa(int(ReceiveTimeout.Seconds())), Important: true},
		},
	}
}

// Probe returns nil if ClickHouse lets the connection read and write the stream's table. It writes
// nothing.
func (s Stream) Probe(ctx context.Context, by *Connection) error {
	var n proto.ColUInt64
	if err := by.do(ctx, ch.Query{
		Body:   "SELECT count() AS n FROM (SELECT kafka_topic_id, kafka_partition, kafka_offset, event_id FROM " + s.Table + " WHERE 0)",
		Result: proto.Results{{Name: "n", Data: &n}},
	}); err != nil {
		return fmt.Errorf("look for ClickHouse's table %s: %w", s.Table, err)
	}
	// The statement of a block, without a row: the server checks the rights, the columns and the
	// settings.
	none := s.Tables.Take()
	defer s.Tables.Give(none)
	q := insertQuery(s.Table, none.Input(time.Now()), "probe")
	q.OnInput = func(context.Context) error { return io.EOF }
	if err := by.do(ctx, q); err != nil {
		return fmt.Errorf("try an insert without rows into ClickHouse's table %s: %w", s.Table, err)
	}
	return nil
}

// EndInserts ends every insert for the partition that still runs, whoever began it, and returns
// when none does.
func (s *Store) EndInserts(ctx context.Context) error {
	var status, queryID, user, text proto.ColStr
	err := s.do(ctx, ch.Query{
		Body:       "KILL QUERY WHERE startsWith(query_id, {prefix:String}) SYNC",
		Parameters: ch.Parameters(map[string]any{"prefix": s.queryPrefix()}),
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
