package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) {
	enginetest.Main(m)
}

// waitLimit bounds a wait for something that must happen; it is no measure of speed. A session
// (longSession) lasts five minutes at most.
const waitLimit = 4 * time.Minute

// rig is a stack with a consumer group of the test's own.
type rig struct {
	*enginetest.Stack
	t       *testing.T
	group   string
	account uuid.UUID
}

func newRig(t *testing.T, partitions int32) *rig {
	t.Helper()
	return newRigOn(t, newStack(t, partitions))
}

// newStack returns a stack with a broker of its own, so that a test can provoke its errors. What
// consumers keep in Postgres is of their topics.
func newStack(t *testing.T, partitions int32) *enginetest.Stack {
	t.Helper()
	return newStackOf(t, enginetest.StackConfig{Partitions: partitions, SharedPostgres: true})
}

// onApacheKafka begins the names of tests that run against Apache Kafka.
const onApacheKafka = "TestSequencesOfFailureOnApacheKafka/"

// newStackOf returns a stack with an embedded broker, or an Apache Kafka, of its own.
func newStackOf(t *testing.T, c enginetest.StackConfig) *enginetest.Stack {
	t.Helper()
	if strings.HasPrefix(t.Name(), onApacheKafka) {
		broker := enginetest.NewApacheKafka(t, t.TempDir(), 1)
		enginetest.Run(t, broker)
		c.Brokers = broker.Brokers()
	}
	return enginetest.NewStack(t, c)
}

func newRigOn(t *testing.T, s *enginetest.Stack) *rig {
	t.Helper()
	return &rig{Stack: s, t: t, group: "group-" + uuid.NewString(), account: uuid.New()}
}

var quiet = slog.New(slog.DiscardHandler)

func testLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// config has short times, so that tests of failures do not take long ones.
func (r *rig) config() Config {
	return Config{
		Group: r.group, BatchRows: 100, BatchBytes: 1 << 20, BatchAge: 20 * time.Millisecond,
		QueueBytes: 1 << 20, BufferBytes: 64 << 20,
		InsertTimeout: 5 * time.Second, ReleaseTimeout: 3 * time.Second, SessionTimeout: 6 * time.Second,
		RebalanceTimeout: 10 * time.Second,
	}
}

// consume starts a consumer, which the returned function stops; the test's end does so as well.
func (r *rig) consume(c Config) (stop func()) {
	r.t.Helper()
	require.NoError(r.t, c.Validate())
	consumer, err := New(c, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(r.t, err)
	require.NoError(r.t, consumer.Start(r.t.Context()))
	stop = func() {
		require.NoError(r.t, consumer.Stop(context.Background()))
		require.Zero(r.t, consumer.buffer.used.Load(), "bytes that no one gave back")
	}
	r.t.Cleanup(stop)
	return stop
}

// event returns a valid event, the n-th of the rig's account.
func (r *rig) event(n int) event.Event {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli() + int64(n)
	return event.Event{
		AccountID: r.account, LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(),
		MagnetVersion: 1, Type: event.PageViewed, Page: uint32(n%10 + 1), DurationMS: 1000,
		Data: fmt.Appendf(nil, `{"page":%d,"duration_ms":1000}`, n%10+1), UserAgent: []byte("test"),
		IPHash: [16]byte{1}, CreatedAt: at, ReceivedAt: at,
	}
}

func (r *rig) events(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = r.event(i)
	}
	return events
}

// produce writes the events to one partition and returns the offset of the first.
func (r *rig) produce(partition int32, events ...event.Event) int64 {
	r.t.Helper()
	values := make([][]byte, len(events))
	for i := range events {
		values[i] = events[i].Append(nil)
	}
	return r.produceRaw(partition, values...)
}

func (r *rig) produceRaw(partition int32, values ...[]byte) int64 {
	r.t.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: event.Topic, Partition: partition, Value: v}
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
	return records[0].Offset
}

// store returns a table like a batcher's, for a look from outside.
func (r *rig) store() *stream.Store {
	options, err := r.ClickHouse.BlockOptions()
	require.NoError(r.t, err)
	options.ReadTimeout = waitLimit // also of the handshake, which a test does not try again
	s := &stream.Store{
		Connection: stream.Connection{Dial: test.Dialer(options), Log: testLog()},
		Stream:     stream.Events(), TopicID: r.TopicID,
	}
	r.t.Cleanup(s.Close)
	return s
}

// counts returns how many rows of the rig's topic are stored, and of how many offsets.
func (r *rig) counts() (rows, offsets uint64) {
	r.t.Helper()
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, conn.Close()) }()
	require.NoError(r.t, conn.QueryRow(context.Background(),
		"SELECT count(), uniqExact(kafka_partition, kafka_offset) FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
		chParameter("topic", r.TopicID.String())).Scan(&rows, &offsets))
	return rows, offsets
}

// committed returns a partition's committed offset and what its commit announces.
func (r *rig) committed(partition int32) (next, intent int64) {
	r.t.Helper()
	offsets, err := kadm.NewClient(r.Client).FetchOffsetsForTopics(context.Background(), r.group, event.Topic)
	o, ok := offsets.Lookup(event.Topic, partition)
	if err != nil || !ok { // the group has not been made yet
		return -1, stream.NoIntent
	}
	a, _ := stream.ParseCommit(o.Metadata)
	return o.At, a.Last
}

// commit sets the group's offset, as an earlier consumer would have left it.
func (r *rig) commit(partition int32, next int64, metadata string) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: partition, At: next, LeaderEpoch: -1, Metadata: metadata})
	require.NoError(r.t, kadm.NewClient(r.Client).CommitAllOffsets(r.t.Context(), r.group, offsets))
}

// awaitCommit waits until everything below the offset is committed and nothing is announced.
func (r *rig) awaitCommit(partition int32, next int64) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		at, intent := r.committed(partition)
		return at == next && intent == stream.NoIntent
	}, waitLimit, 50*time.Millisecond, "partition %d does not get to offset %d", partition, next)
}

// requireStored fails unless exactly so many rows are stored, none of them twice.
func (r *rig) requireStored(want int) {
	r.t.Helper()
	rows, offsets := r.counts()
	require.Equal(r.t, uint64(want), rows, "rows")
	require.Equal(r.t, uint64(want), offsets, "offsets")
}

// done returns the metadata of a commit that announces nothing.
func (r *rig) done() string { return announced(r.TopicID, stream.NoIntent) }

// announced returns the metadata of a commit that announces offsets up to last, for an insert whose
// time is over.
func announced(topicID uuid.UUID, last int64) string {
	return stream.Announcement{Rules: stream.BlockRules, TopicID: topicID, Last: last,
		Before: time.Now().Add(-time.Second)}.String()
}

// storeRows inserts the events as an earlier consumer would have, from the offset on.
func (r *rig) storeRows(partition int32, first int64, events ...event.Event) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), waitLimit)
	defer cancel()
	s := r.store()
	before, err := s.Before(ctx, waitLimit)
	require.NoError(r.t, err)
	require.NoError(r.t, s.Insert(ctx, r.rows(partition, first, events...), []int32{partition}, before))
}

// rows returns the events as rows, from the offset on.
func (r *rig) rows(partition int32, first int64, events ...event.Event) stream.Table {
	r.t.Helper()
	s := stream.Events()
	rows, reads := s.Tables.Take(), s.Decoder()
	for i := range events {
		_, err := reads.Decode(events[i].Append(nil))
		require.NoError(r.t, err)
		reads.Add(rows, stream.Place{TopicID: r.TopicID, Partition: partition, Offset: first + int64(i)})
	}
	return rows
}
