package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// store is one worker's connection to ClickHouse. After any error it connects anew, since the
// state of the old connection is unknown. It is used by one goroutine.
type store struct {
	options   ch.Options
	table     string
	topicID   uuid.UUID
	partition int32
	log       *slog.Logger

	conn *ch.Client
}

// queryPrefix begins the id of every insert for the partition, so that its next owner can find
// inserts that still run.
func (s *store) queryPrefix() string {
	return fmt.Sprintf("lodestone-insert-%s-%d-", s.topicID, s.partition)
}

func (s *store) do(ctx context.Context, q ch.Query) error {
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := ch.Dial(ctx, s.options)
		if err != nil {
			return fmt.Errorf("connect to ClickHouse: %w", err)
		}
		s.conn = conn
	}
	if err := s.conn.Do(ctx, q); err != nil {
		s.close()
		return err
	}
	return nil
}

func (s *store) close() {
	if s.conn == nil {
		return
	}
	if err := s.conn.Close(); err != nil && !errors.Is(err, ch.ErrClosed) {
		s.log.Debug("close connection to ClickHouse", "error", err)
	}
	s.conn = nil
}

// insert stores the rows as one block under the token. A nil error means that they are stored, or
// that ClickHouse remembers the token; any error leaves it open whether they are, or will be.
func (s *store) insert(ctx context.Context, rows proto.Input, token string) error {
	err := s.do(ctx, ch.Query{
		QueryID: s.queryPrefix() + token[strings.LastIndexByte(token, ':')+1:] + "-" + uuid.NewString(),
		Body:    rows.Into(s.table),
		Input:   rows,
		Settings: []ch.Setting{
			// An asynchronous insert takes no deduplication token.
			{Key: "async_insert", Value: "0", Important: true},
			{Key: "insert_deduplicate", Value: "1", Important: true},
			{Key: "insert_deduplication_token", Value: token, Important: true},
			{Key: "deduplicate_blocks_in_dependent_materialized_views", Value: "1", Important: true},
			// A writer that hangs is cut off by the server well before its token can be forgotten.
			{Key: "receive_timeout", Value: "30", Important: true},
		},
	})
	if err != nil {
		return fmt.Errorf("insert into ClickHouse: %w", err)
	}
	return nil
}

// kill ends every insert for the partition that still runs, whoever began it, and returns when
// none does.
func (s *store) kill(ctx context.Context) error {
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

// stored returns which offsets from first to last are stored.
func (s *store) stored(ctx context.Context, first, last int64) (map[int64]struct{}, error) {
	offsets := make(map[int64]struct{})
	var column proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body: "SELECT kafka_offset FROM " + s.table +
			" WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}" +
			" AND kafka_offset >= {first:Int64} AND kafka_offset <= {last:Int64}",
		Parameters: s.parameters(map[string]any{"first": first, "last": last}),
		Result:     proto.Results{{Name: "kafka_offset", Data: &column}},
		OnResult: func(context.Context, proto.Block) error {
			for _, offset := range column {
				offsets[offset] = struct{}{}
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return offsets, nil
}

func (s *store) parameters(more map[string]any) []proto.Parameter {
	more["topic"] = s.topicID.String()
	more["partition"] = s.partition
	return ch.Parameters(more)
}
