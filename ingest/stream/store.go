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

// Store inserts and looks up the rows of one topic on one shard. It is used by one goroutine.
type Store struct {
	Connection
	Stream  Stream
	TopicID uuid.UUID

	Others []*Connection // to other shards that may have earlier events; they are read only
}

// Close closes all connections of the store. It may be used again.
func (s *Store) Close() {
	s.Connection.Close()
	for _, other := range s.Others {
		other.Close()
	}
}

// minFreeDisk is how many bytes ClickHouse must have left of its disk for an insert. It is far more
// than one batch takes.
const minFreeDisk = "268435456"

// receiveTimeout is for how many seconds the server waits for the next bytes of an insert.
const receiveTimeout = "30"

// ErrNotSent says that an insert did not get as far as the server.
var ErrNotSent = errors.New("the insert was not sent")

// Insert stores the rows, which are of the partitions, as one block. A nil error means that they
// are stored; ErrNotSent that they are not, and will not be. Any other error leaves it open which
// of them are, or will be.
//
// The server refuses rows once its clock shows the time given. That is not left to this process,
// which may be stopped after its last look at the clock and go on much later. From its first bytes
// on until its end, the insert is among the server's running queries, with the partitions as its
// comment (26.7): EndInserts finds it there.
func (s *Store) Insert(ctx context.Context, rows Table, partitions []int32, before time.Time) error {
	if err := s.open(ctx); err != nil {
		return errors.Join(ErrNotSent, err)
	}
	q := insertQuery(s.Stream.Table, rows.Input(before), s.comment(partitions))
	if err := s.do(ctx, q); err != nil {
		return fmt.Errorf("insert into ClickHouse: %w", err)
	}
	return nil
}

// comment returns how an insert of the partitions is known to the server. ClickHouse has no list of
// settings' values, so it is one text.
func (s *Store) comment(partitions []int32) string {
	names := make([]string, len(partitions))
	for i, p := range partitions {
		names[i] = s.mark(p)
	}
	return strings.Join(names, ",")
}

func (s *Store) mark(partition int32) string {
	return s.TopicID.String() + ":" + strconv.Itoa(int(partition))
}

// insertQuery returns the statement that stores the columns as one block.
func insertQuery(table string, input proto.Input, comment string) ch.Query {
	return ch.Query{
		Body:  input.Into(table),
		Input: input,
		Settings: []ch.Setting{
			// An asynchronous insert is answered before it is stored, and runs under another name.
			{Key: "async_insert", Value: "0", Important: true},
			// Which rows are stored is seen by their offsets. The server is to drop none by itself.
			{Key: "insert_deduplicate", Value: "0", Important: true},
			{Key: "log_comment", Value: comment, Important: true},
			// A disk that fills up in the middle of an insert has left a part of empty files behind, which
			// ClickHouse acknowledged (26.7): nothing is inserted that might get there.
			{Key: "min_free_disk_bytes_to_perform_insert", Value: minFreeDisk, Important: true},
			// A writer that hangs is cut off by the server.
			{Key: "receive_timeout", Value: receiveTimeout, Important: true},
		},
	}
}

// Probe returns nil if ClickHouse lets the connection read and write the stream's table. It writes
// nothing.
func (s Stream) Probe(ctx context.Context, by *Connection) error {
	var n proto.ColUInt64
	if err := by.do(ctx, ch.Query{
		Body: "SELECT count() AS n FROM (SELECT kafka_topic_id, kafka_partition, kafka_offset, event_id FROM " + s.Table +
			" WHERE 0)",
		Result: proto.Results{{Name: "n", Data: &n}},
	}); err != nil {
		return fmt.Errorf("look for ClickHouse's table %s: %w", s.Table, err)
	}
	// The statement of a batch, without a row: the server checks the rights, the columns and the
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

// Probe is that of the stream, over the store's connection.
func (s *Store) Probe(ctx context.Context) error { return s.Stream.Probe(ctx, &s.Connection) }

// EndInserts ends every insert of one of the partitions that still runs, whoever began it, and
// returns when none does.
func (s *Store) EndInserts(ctx context.Context, partitions []int32) error {
	marks := make([]string, len(partitions))
	for i, p := range partitions {
		marks[i] = `\'` + s.mark(p) + `\'`
	}
	var status, queryID, user, text proto.ColStr
	err := s.do(ctx, ch.Query{
		Body:       "KILL QUERY WHERE hasAny(splitByChar(',', Settings['log_comment']), {marks:Array(String)}) SYNC",
		Parameters: ch.Parameters(map[string]any{"marks": "[" + strings.Join(marks, ",") + "]"}),
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
