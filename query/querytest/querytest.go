// Package querytest gives the tests of the query service real databases with the schema in them,
// and stores events as the consumer would.
package querytest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/scope"
)

var shared struct {
	sync.Mutex
	conn driver.Conn
}

// Conn returns a connection that sees everything, which all tests of a package share.
func Conn(t testing.TB) driver.Conn {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.conn == nil {
		conn, err := clickhouse.Open(enginetest.MigratedClickHouse(t), 8)
		require.NoError(t, err)
		enginetest.AtEnd(func() { _ = conn.Close() })
		shared.conn = conn
	}
	return shared.conn
}

// Limits are generous: tests run on busy machines.
func Limits() scope.Limits {
	return scope.Limits{MaxConns: 4, Timeout: time.Minute, MemoryBytes: 512 << 20}
}

// Scoped returns what queries of accounts run on: the shared server.
func Scoped(t testing.TB) *scope.ClickHouse {
	t.Helper()
	return scopedTo(t, enginetest.MigratedClickHouse(t))
}

// HTTP returns the HTTP address of the server that Conn and Scoped reach.
func HTTP(t testing.TB) string {
	t.Helper()
	return enginetest.Server(t).HTTPURL()
}

// Streams returns what exports of accounts run on: the shared server.
func Streams(t testing.TB, l scope.Limits) *scope.Streams {
	t.Helper()
	streams, err := scope.OpenStreams(enginetest.MigratedClickHouse(t), HTTP(t), l)
	require.NoError(t, err)
	t.Cleanup(streams.Close)
	return streams
}

func scopedTo(t testing.TB, c clickhouse.Config) *scope.ClickHouse {
	t.Helper()
	ch, err := scope.Open(c, Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	return ch
}

// Log discards.
func Log() *slog.Logger { return slog.New(slog.DiscardHandler) }

// StoredEvent is an event with its place in the log.
type StoredEvent struct {
	event.Event
	AgentNames string // of browser and system, as the consumer stores them
	TopicID    uuid.UUID
	Partition  int32
	Offset     int64
	StoredAt   time.Time // zero: now, by the clock of the server; of all that are stored as one block, or none
}

// Store inserts events as one block.
func Store(t testing.TB, conn driver.Conn, events ...StoredEvent) {
	t.Helper()
	ctx := native.Context(context.Background(),
		native.WithSettings(native.Settings{"async_insert": 0, "insert_allow_materialized_columns": 1}))
	also := ""
	given := len(events) > 0 && !events[0].StoredAt.IsZero()
	if given {
		also = ", stored_at"
	}
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO lodestone.events (
		account_id, lead_magnet_id, generic_link_id, access_link_id, session_id, event_id, event_type,
		event_data, magnet_version, page, duration_ms, ip_hash, user_agent, agent_names, origin, bot, created_at, received_at,
		kafka_topic_id, kafka_partition, kafka_offset`+also+`)`)
	require.NoError(t, err)
	for i := range events {
		e := &events[i]
		data := e.Data
		if data == nil {
			data = []byte("{}")
		}
		row := []any{e.AccountID, e.LeadMagnetID, e.GenericLinkID, e.AccessLinkID, e.SessionID, e.EventID,
			e.Type.String(), data, e.MagnetVersion, e.Page, e.DurationMS, e.IPHash[:], string(e.UserAgent),
			e.AgentNames, e.Origin.String(), e.Bot,
			time.UnixMilli(e.CreatedAt).UTC(), time.UnixMilli(e.ReceivedAt).UTC(), e.TopicID, e.Partition, e.Offset}
		if given {
			row = append(row, e.StoredAt.UTC())
		}
		require.NoError(t, batch.Append(row...))
	}
	require.NoError(t, batch.Send())
}

// ID returns a fresh id.
func ID(t testing.TB) uuid.UUID {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	return id
}
