package deadletter

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"lodestone/ingest/stream"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/pkg/clickhouse/clickhousetest"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

// rig is a broker and a Postgres database of the test's own and the shared ClickHouse.
type rig struct {
	*enginetest.Stack
	t        *testing.T
	box      *Box
	account  uuid.UUID
	magnet   uuid.UUID
	replayer *Replayer
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2}))
}

func newRigOn(t *testing.T, s *enginetest.Stack) *rig {
	t.Helper()
	r := &rig{Stack: s, t: t}
	r.account, r.magnet = s.Magnet()
	log := slog.New(slog.DiscardHandler)
	keyed, err := kgo.NewClient(r.Kafka.Options(log)...)
	require.NoError(t, err)
	t.Cleanup(keyed.Close)
	r.box = NewBox(keyed, r.Kafka.Options(log))
	r.replayer = &Replayer{Box: r.box, ClickHouse: r.ClickHouse, Conn: r.Conn, Pool: r.Postgres, Group: "g", Log: log}
	return r
}

func (r *rig) link() uuid.UUID {
	r.t.Helper()
	return r.Link(r.account, r.magnet, nil)
}

func (r *rig) event(link uuid.UUID) event.Event {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli()
	return event.Event{
		AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: link, EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: at, ReceivedAt: at,
	}
}

func (r *rig) produce(values ...[]byte) {
	r.t.Helper()
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, &kgo.Record{Topic: event.Topic, Partition: 0, Value: v})
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
}

// consume lets a consumer store everything up to the offset.
func (r *rig) consume(next int64) {
	r.t.Helper()
	c := consumertest.New(r.t, r.Stack)
	require.NoError(r.t, c.Start(r.t.Context()))
	require.Eventually(r.t, func() bool {
		commits, err := kadm.NewClient(r.Client).FetchOffsetsForTopics(context.Background(), "g", event.Topic)
		o, ok := commits.Lookup(event.Topic, 0)
		return err == nil && ok && o.At == next
	}, waitLimit, 20*time.Millisecond)
	require.NoError(r.t, c.Stop(context.Background()))
}

// bury writes a dead letter as the consumer of an earlier release would have, which could not decode
// what this one can.
func (r *rig) bury(offset int64, value []byte) Origin {
	r.t.Helper()
	o := Origin{r.TopicID, 0, offset}
	require.NoError(r.t, r.box.client.ProduceSync(r.t.Context(), &kgo.Record{
		Topic: event.DeadLetterTopic, Key: []byte(o.String()), Value: value,
		Headers: []kgo.RecordHeader{
			{Key: "reason", Value: []byte("unsupported_version")}, {Key: "error", Value: []byte("unsupported schema version: 9")},
			{Key: "topic", Value: []byte(event.Topic)},
		},
	}).FirstErr())
	return o
}

func (r *rig) commit(next int64) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: next, LeaderEpoch: -1})
	require.NoError(r.t, kadm.NewClient(r.Client).CommitAllOffsets(r.t.Context(), "g", offsets))
}

func (r *rig) replay(f Filter) Result {
	r.t.Helper()
	result, err := r.replayer.Replay(r.t.Context(), f)
	require.NoError(r.t, err)
	return result
}

func (r *rig) requireRows(want ...int64) {
	r.t.Helper()
	var offsets []int64
	require.NoError(r.t, r.Conn.QueryRow(context.Background(),
		"SELECT arraySort(groupArray(kafka_offset)) FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
		native.Named("topic", r.TopicID.String())).Scan(&offsets))
	require.Equal(r.t, want, offsets)
}

func (r *rig) requireViews(link uuid.UUID, want int) {
	r.t.Helper()
	var got int
	require.NoError(r.t, r.Postgres.Unscoped().QueryRow(context.Background(), "SELECT view_count FROM counted_access_links WHERE id = $1", link).Scan(&got))
	require.Equal(r.t, want, got)
}

func (r *rig) states(f Filter) map[int64]State {
	r.t.Helper()
	letters, err := r.box.List(r.t.Context(), f)
	require.NoError(r.t, err)
	states := map[int64]State{}
	for _, l := range letters {
		states[l.Origin.Offset] = l.State
	}
	return states
}

func TestLettersOfTheConsumerAreListedShownAndDiscarded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good, odd := r.event(uuid.New()), r.event(uuid.New())
	odd.UserAgent = []byte("Mozilla/5.0 secret")
	odd.Page = event.MaxPage + 1
	broken := odd.Append(nil)
	r.produce([]byte("\xff\xff"), good.Append(nil), broken)
	r.consume(3)

	letters, err := r.box.List(t.Context(), Filter{})
	require.NoError(t, err)
	require.Len(t, letters, 2)
	require.Equal(t, map[int64]State{0: Open, 2: Open}, r.states(Filter{States: []State{Open}}))
	require.Equal(t, map[int64]State{2: Open}, r.states(Filter{Reason: "invalid"}))
	require.Empty(t, r.states(Filter{Since: time.Now().Add(time.Hour)}))

	o := Origin{r.TopicID, 0, 2}
	l, record, err := r.box.Read(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, broken, record)
	require.Equal(t, []any{event.Topic, "invalid", Open}, []any{l.Topic, l.Reason, l.State})
	require.Contains(t, l.Error, "page")
	fields, rest := Fields(record, false)
	require.Zero(t, rest)
	shown := fmt.Sprint(fields)
	require.Contains(t, shown, odd.EventID.String())
	require.Contains(t, shown, "page_viewed")
	require.NotContains(t, shown, "secret")
	fields, _ = Fields(record, true)
	require.Contains(t, fmt.Sprint(fields), "secret")

	_, err = r.box.Discard(t.Context(), []Origin{o, {r.TopicID, 0, 77}}, "x")
	require.ErrorIs(t, err, ErrUnknown)
	require.Equal(t, Open, r.states(Filter{})[2])
	n, err := r.box.Discard(t.Context(), []Origin{o}, "a test")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = r.box.Discard(t.Context(), []Origin{o}, "again")
	require.NoError(t, err)
	require.Zero(t, n)
	l, _, err = r.box.Read(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []any{Discarded, "a test"}, []any{l.State, l.Why})
	require.Equal(t, map[int64]State{0: Open}, r.states(Filter{States: []State{Open}}))

	// This build still cannot decode the other one, so it stays open.
	require.Equal(t, Result{Undecoded: 1}, r.replay(Filter{States: []State{Open}}))
	require.Equal(t, Open, r.states(Filter{})[0])
}

func TestAReplayStoresAndCountsOnce(t *testing.T) {
	t.Parallel()
	requireReplay(t, newRig(t))
}

func requireReplay(t *testing.T, r *rig) {
	t.Helper()
	link := r.link()
	first, second, third := r.event(link), r.event(link), r.event(link)
	r.bury(5, first.Append(nil))
	r.bury(5, first.Append(nil)) // a crash of the consumer doubled it
	r.bury(7, second.Append(nil))
	r.bury(9, second.Append(nil)) // the sender repeated it
	r.bury(11, third.Append(nil))
	r.commit(11)

	require.Equal(t, Result{Stored: 2, Repeats: 1, Unsettled: 1}, r.replay(Filter{States: []State{Open}}))
	r.requireRows(5, 7)
	r.requireViews(link, 2)
	require.Equal(t, map[int64]State{5: Replayed, 7: Replayed, 9: Replayed, 11: Open}, r.states(Filter{}))

	r.commit(12)
	require.Equal(t, Result{Stored: 1}, r.replay(Filter{}))
	require.Equal(t, Result{}, r.replay(Filter{}))
	r.bury(5, first.Append(nil)) // the double comes late
	require.Equal(t, Result{}, r.replay(Filter{States: []State{Open}}))
	r.requireRows(5, 7, 11)
	r.requireViews(link, 3)
}

func TestAReplayThatWasKilledIsFinished(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link()
	e, old := r.event(link), r.event(link)
	old.CreatedAt -= 40 * 24 * 3600 * 1000 // another month, so another part
	o := []Origin{r.bury(0, e.Append(nil)), r.bury(1, old.Append(nil))}
	r.commit(2)
	// Killed between the rows and the marker: the marker is not written, nor counted.
	r.Broker.Cluster().ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		asked := req.(*kmsg.ProduceRequest)
		refused := asked.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range asked.Topics {
			t := kmsg.NewProduceResponseTopic()
			t.Topic, t.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				p := kmsg.NewProduceResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, kerr.TopicAuthorizationFailed.Code
				t.Partitions = append(t.Partitions, p)
			}
			refused.Topics = append(refused.Topics, t)
		}
		return refused, nil, true
	})
	_, err := r.replayer.Replay(t.Context(), Filter{Origins: o})
	require.ErrorIs(t, err, kerr.TopicAuthorizationFailed)
	require.Equal(t, map[int64]State{0: Open, 1: Open}, r.states(Filter{}))
	// And half of the rows had not got to the disk, although their token had.
	r.Exec("DELETE FROM access_link_counts") // nothing is counted yet
	require.NoError(t, r.Conn.Exec(t.Context(), "ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset = 1 SETTINGS mutations_sync = 2",
		native.Named("topic", r.TopicID.String())))
	r.requireRows(0)

	require.Equal(t, Result{Stored: 1, Present: 1}, r.replay(Filter{Origins: o}))
	r.requireRows(0, 1)
	r.requireViews(link, 2)
	require.Equal(t, map[int64]State{0: Replayed, 1: Replayed}, r.states(Filter{}))
}

func TestATokenWithoutItsRowsSwallowsNoReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.event(r.link())
	o := r.bury(3, e.Append(nil))
	r.commit(4)
	of, _ := stream.Of(event.Topic)
	options, err := r.ClickHouse.BlockOptions()
	require.NoError(t, err)
	rows := &stream.Store{
		Connection: stream.Connection{Dial: clickhousetest.Dialer(options), Log: slog.New(slog.DiscardHandler)}, Stream: of, TopicID: r.TopicID, Replays: true,
	}
	defer rows.Close()
	require.NoError(t, insert(t.Context(), rows, of, lane{event.Topic, r.TopicID, 0}, []candidate{{letter: Letter{Origin: o}, value: e.Append(nil)}}, 0))
	require.NoError(t, r.Conn.Exec(t.Context(), "ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} SETTINGS mutations_sync = 2",
		native.Named("topic", r.TopicID.String())))
	require.Equal(t, Result{Stored: 1}, r.replay(Filter{}))
	r.requireRows(3)
}

// A letter is stored on the shard of its partition, beside the rows that it may repeat, and counted.
func TestALetterIsReplayedToTheShardOfItsPartition(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Shards: shards}))
	r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 2)", r.TopicID, event.Topic)
	link := r.link()
	first, second := r.event(link), r.event(link)
	r.bury(5, first.Append(nil))
	r.bury(7, second.Append(nil))
	r.bury(9, second.Append(nil)) // the sender repeated it
	r.commit(10)
	require.Equal(t, Result{Stored: 2, Repeats: 1}, r.replay(Filter{}))
	r.requireRows(5, 7)
	r.requireViews(link, 2)
	for i, want := range []uint64{0, 2} {
		var rows uint64
		require.NoError(t, shards.Conn(t, i).QueryRow(t.Context(), "SELECT count() FROM lodestone.events").Scan(&rows))
		require.Equal(t, want, rows, "shard %d", i+1)
	}
}

func TestADiscardedLetterIsReplayedWhenNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.event(r.link())
	o := r.bury(0, e.Append(nil))
	r.commit(1)
	_, err := r.box.Discard(t.Context(), []Origin{o}, "by mistake")
	require.NoError(t, err)
	require.Equal(t, Result{}, r.replay(Filter{States: []State{Open}}))
	require.Equal(t, Result{Stored: 1}, r.replay(Filter{Origins: []Origin{o}}))
	require.Equal(t, map[int64]State{0: Replayed}, r.states(Filter{}))
	_, err = r.replayer.Replay(t.Context(), Filter{Origins: []Origin{{r.TopicID, 0, 99}}})
	require.ErrorIs(t, err, ErrUnknown)
}

func TestAnEventThatWasSentAgainIsNotStoredTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.event(r.link())
	r.bury(0, e.Append(nil))
	r.produce([]byte("\xff"), e.Append(nil)) // offset 1 has the repeat, which was stored
	r.consume(2)
	require.Equal(t, Result{Repeats: 1, Undecoded: 0}, r.replay(Filter{Reason: "unsupported_version"}))
	r.requireRows(1)
}

func TestParallelReplaysStoreOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link()
	for i := range int64(20) {
		e := r.event(link)
		r.bury(i, e.Append(nil))
	}
	r.commit(20)
	results := make(chan Result, 2)
	for range 2 {
		go func() {
			result, err := r.replayer.Replay(context.Background(), Filter{States: []State{Open}})
			if err != nil {
				r.t.Error(err)
			}
			results <- result
		}()
	}
	a, b := <-results, <-results
	require.Equal(t, 20, a.Stored+b.Stored)
	r.requireViews(link, 20)
}
