package stream

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// waitLimit bounds a wait for something that must happen; it is no measure of speed.
const waitLimit = enginetest.Timeout

// rig is the shared ClickHouse, and a topic of the test's own whose records are stored.
type rig struct {
	t          *testing.T
	clickhouse clickhouse.Config
	topicID    uuid.UUID
	account    uuid.UUID
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t: t, clickhouse: enginetest.MigratedClickHouse(t),
		topicID: uuid.New(), account: uuid.New(),
	}
	return r
}

// events returns n valid events of the rig's account.
func (r *rig) events(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli() + int64(i)
		events[i] = event.Event{
			AccountID: r.account, LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(),
			MagnetVersion: 1, Type: event.PageViewed, Page: uint32(i%10 + 1), DurationMS: 1000,
			Data: fmt.Appendf(nil, `{"page":%d,"duration_ms":1000}`, i%10+1), UserAgent: []byte("test"),
			IPHash: [16]byte{1}, CreatedAt: at, ReceivedAt: at,
		}
	}
	return events
}

// options returns how a store reaches the server.
func (r *rig) options() ch.Options {
	options, err := r.clickhouse.BlockOptions()
	require.NoError(r.t, err)
	options.ReadTimeout = waitLimit // also of the handshake, which a test does not try again
	return options
}

// store returns a store of events.
func (r *rig) store() *Store {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	s := &Store{
		Connection: Connection{Dial: test.Dialer(r.options()), Log: log},
		Stream:     Events(), TopicID: r.topicID,
	}
	r.t.Cleanup(s.Close)
	return s
}

// rows returns the events as rows of consecutive offsets from first on.
func (r *rig) rows(partition int32, first int64, events ...event.Event) Table {
	r.t.Helper()
	s := Events()
	rows, reads := s.Tables.Take(), s.Decoder()
	for i := range events {
		_, err := reads.Decode(events[i].Append(nil))
		require.NoError(r.t, err)
		reads.Add(rows, Place{TopicID: r.topicID, Partition: partition, Offset: first + int64(i)})
	}
	return rows
}

// storeRows inserts the events as a consumer would have, from the offset on.
func (r *rig) storeRows(partition int32, first int64, events ...event.Event) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), waitLimit)
	defer cancel()
	r.insert(ctx, r.store(), r.rows(partition, first, events...), partition)
}

// requireStored fails unless exactly so many rows of the topic are stored.
func (r *rig) requireStored(want int) {
	r.t.Helper()
	conn, err := clickhouse.Open(r.clickhouse, 1)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, conn.Close()) }()
	var rows uint64
	require.NoError(r.t,
		conn.QueryRow(r.t.Context(), "SELECT count() FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
			native.Named("topic", r.topicID.String())).Scan(&rows))
	require.Equal(r.t, uint64(want), rows)
}

// insert stores rows of a partition.
func (r *rig) insert(ctx context.Context, s *Store, rows Table, partition int32) {
	r.t.Helper()
	before, err := s.Before(ctx, waitLimit)
	require.NoError(r.t, err)
	require.NoError(r.t, s.Insert(ctx, rows, []int32{partition}, before))
}
