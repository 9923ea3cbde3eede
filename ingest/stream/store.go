package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// Store inserts and looks up the rows of one partition, over a connection of its own or shared ones. It is used by one goroutine.
type Store struct {
	Connection
	Stream    Stream
	TopicID   uuid.UUID
	Partition int32
	Replays   bool // inserts dead letters, not blocks

	Before []Elsewhere // other shards that may have earlier events of the partition's keys
}

// Elsewhere is another shard, which is read only. It is safe for concurrent use.
type Elsewhere interface {
	// With calls fn with a connection to it. An error says that what fn read does not count.
	With(ctx context.Context, fn func(by *Connection) error) error
}

// queryPrefix begins the id of every insert of a kind for the partition, so that whoever goes on can find
// those that still run.
func (s *Store) queryPrefix(kind string) string {
	return fmt.Sprintf("lodestone-%s-%s-%d-", kind, s.TopicID, s.Partition)
}

// The kinds of inserts.
const (
	kindBlock  = "insert"
	kindReplay = "replay"
)

func (s *Store) kind() string {
	if s.Replays {
		return kindReplay
	}
	return kindBlock
}

// Insert stores the rows as one block under the token. A nil error means that they are stored, or
// that ClickHouse remembers the token; any error leaves it open whether they are, or will be. A nil connection is that of the store.
//
// The insert has to begin before the deadline of ctx. That is not left to this process, which may
// be stopped after its last look at the clock and go on much later: the server refuses rows that
// come too late by its own clock, and drops a connection that stops in the middle of an insert.
func (s *Store) Insert(ctx context.Context, by *Connection, rows Table, token string) error {
	return s.insert(ctx, by, rows, token, nil)
}

// Quorum says how rows are inserted into replicated tables.
type Quorum struct {
	Replicas int   // that have the rows before the insert is acknowledged: more than one, so that ClickHouse checks its session in Keeper
	Epoch    int64 // of the writer: the server refuses one that is over
}

// InsertReplicated is Insert into replicated tables. The rows are of one month.
func (s *Store) InsertReplicated(ctx context.Context, rows Table, token string, quorum Quorum) error {
	return s.insert(ctx, nil, rows, token, &quorum)
}

// largeInsert is from how many rows on the memory that a connection has for what it sends is worth giving back.
const largeInsert = 10_000

func (s *Store) insert(ctx context.Context, by *Connection, rows Table, token string, quorum *Quorum) error {
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
		// Large blocks go around all connections of a pool, each of which would keep memory for the largest.
		defer own.Close()
	}
	before, err := own.bound(ctx, deadline)
	if err != nil {
		return err
	}
	input := rows.Input(before)
	if quorum != nil {
		return s.send(ctx, own, quorum.query(s.Stream.Table, input, token, remaining(deadline)), token)
	}
	return s.send(ctx, own, insertQuery(s.Stream.Table, input, token), token)
}

// minFreeDisk is how many bytes ClickHouse must have left of its disk for an insert. It is far more than one block takes.
const minFreeDisk = "268435456"

// send sends an insert.
func (s *Store) send(ctx context.Context, by *Connection, q ch.Query, token string) error {
	q.QueryID = s.queryPrefix(s.kind()) + token[strings.LastIndexByte(token, ':')+1:] + "-" + uuid.NewString()
	if err := by.do(ctx, q); err != nil {
		return fmt.Errorf("insert into ClickHouse: %w", err)
	}
	return nil
}

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

// quorumSlack is how much earlier than the client the server gives up waiting for other replicas, so that its answer comes in time.
const quorumSlack = 500 * time.Millisecond

// query returns the statement that stores the columns on several replicas.
func (q *Quorum) query(table string, input proto.Input, token string, limit time.Duration) ch.Query {
	epochs := make(proto.ColInt64, input[0].Data.Rows())
	for i := range epochs {
		epochs[i] = q.Epoch
	}
	query := insertQuery(table, append(slices.Clone(input), proto.InputColumn{Name: "writer_epoch", Data: &epochs}), token)
	query.Settings = append(query.Settings,
		// A number: "auto" would go by the replicas that Keeper lists, not by those of which we count a majority.
		ch.Setting{Key: "insert_quorum", Value: strconv.Itoa(q.Replicas), Important: true},
		ch.Setting{Key: "insert_quorum_parallel", Value: "1", Important: true},
		ch.Setting{Key: "insert_quorum_timeout", Value: strconv.FormatInt(max(1, (limit-quorumSlack).Milliseconds()), 10), Important: true},
		// The insert ends with the session in Keeper in which it began: a writer whose session has ended stores nothing more.
		ch.Setting{Key: "insert_keeper_max_retries", Value: "0", Important: true},
	)
	return query
}

// Probe returns nil if ClickHouse lets the connection read and write the stream's table. It writes nothing.
func (s Stream) Probe(ctx context.Context, by *Connection) error {
	var n proto.ColUInt64
	if err := by.do(ctx, ch.Query{
		Body:   "SELECT count() AS n FROM (SELECT kafka_topic_id, kafka_partition, kafka_offset, event_id FROM " + s.Table + " WHERE 0)",
		Result: proto.Results{{Name: "n", Data: &n}},
	}); err != nil {
		return fmt.Errorf("look for ClickHouse's table %s: %w", s.Table, err)
	}
	// The statement of a block, without a row: the server checks the rights, the columns and the settings.
	none := s.Tables.Take()
	defer s.Tables.Give(none)
	q := insertQuery(s.Table, none.Input(time.Now()), "probe")
	q.OnInput = func(context.Context) error { return io.EOF }
	if err := by.do(ctx, q); err != nil {
		return fmt.Errorf("try an insert without rows into ClickHouse's table %s: %w", s.Table, err)
	}
	return nil
}

// EndInserts ends every insert for the partition that still runs, whoever began it, and returns when
// none does. Whoever replays dead letters leaves blocks alone: they are of other offsets.
func (s *Store) EndInserts(ctx context.Context) error {
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
