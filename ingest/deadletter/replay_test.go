package deadletter

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

// onApacheKafka begins the names of tests that run against Apache Kafka.
const onApacheKafka = "TestReplaysOnApacheKafka/"

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
	c := enginetest.StackConfig{Partitions: 2}
	if strings.HasPrefix(t.Name(), onApacheKafka) {
		broker := enginetest.NewApacheKafka(t, t.TempDir(), 1)
		enginetest.Run(t, broker)
		c.Brokers = broker.Brokers()
	}
	r := &rig{Stack: enginetest.NewStack(t, c), t: t}
	r.account, r.magnet = r.Magnet()
	log := slog.New(slog.DiscardHandler)
	keyed, err := kgo.NewClient(r.Kafka.Options(log)...)
	require.NoError(t, err)
	t.Cleanup(keyed.Close)
	r.box = NewBox(keyed, r.Kafka.Options(log))
	config := producer.Config{}
	require.NoError(t, config.BeforeApply())
	writer, err := producer.New(config, producer.Deps{
		Kafka: r.Kafka.Options(log), Topics: kafka.KeyedTopics(), Log: log, Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	enginetest.Run(t, writer)
	r.replayer = &Replayer{Box: r.box, Writer: writer, Pool: r.Postgres, Log: log}
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

// bury writes a dead letter as the consumer of an earlier release would have, which could not
// decode what this one can.
func (r *rig) bury(offset int64, value []byte) Origin {
	r.t.Helper()
	o := Origin{r.TopicID, 0, offset}
	require.NoError(r.t, r.box.client.ProduceSync(r.t.Context(), &kgo.Record{
		Topic: event.DeadLetterTopic, Key: []byte(o.String()), Value: value,
		Headers: []kgo.RecordHeader{
			{Key: "reason", Value: []byte("unsupported_version")},
			{Key: "error", Value: []byte("unsupported schema version: 9")},
			{Key: "topic", Value: []byte(event.Topic)},
		},
	}).FirstErr())
	return o
}

func (r *rig) replay(f Filter) Result {
	r.t.Helper()
	result, err := r.replayer.Replay(r.t.Context(), f)
	require.NoError(r.t, err)
	return result
}

// requireRows has the consumer store everything, and counts the rows of the topic.
func (r *rig) requireRows(want uint64) {
	r.t.Helper()
	c := consumertest.New(r.t, r.Stack)
	require.NoError(r.t, c.Start(r.t.Context()))
	require.Eventually(r.t, func() bool {
		ranges, err := kafka.Ranges(context.Background(), r.Client, event.Topic)
		commits, err2 := kadm.NewClient(r.Client).FetchOffsetsForTopics(context.Background(), "g", event.Topic)
		for partition, held := range ranges {
			o, ok := commits.Lookup(event.Topic, partition)
			if err != nil || err2 != nil || held.To > 0 && (!ok || o.At < held.To) {
				return false
			}
		}
		return true
	}, waitLimit, 20*time.Millisecond)
	require.NoError(r.t, c.Stop(context.Background()))
	var rows uint64
	require.NoError(r.t, r.Conn.QueryRow(context.Background(),
		"SELECT count() FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
		native.Named("topic", r.TopicID.String())).Scan(&rows))
	require.Equal(r.t, want, rows)
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
	r.requireRows(1)

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

func TestAReplayStoresOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link()
	first, second := r.event(link), r.event(link)
	r.bury(5, first.Append(nil))
	r.bury(5, first.Append(nil)) // a crash of the consumer doubled it
	r.bury(7, second.Append(nil))
	r.bury(9, second.Append(nil)) // the sender repeated it
	require.Equal(t, Result{Written: 3}, r.replay(Filter{States: []State{Open}}))
	require.Equal(t, map[int64]State{5: Replayed, 7: Replayed, 9: Replayed}, r.states(Filter{}))
	r.requireRows(2)

	require.Equal(t, Result{}, r.replay(Filter{}))
	r.bury(5, first.Append(nil)) // the double comes late
	require.Equal(t, Result{}, r.replay(Filter{States: []State{Open}}))
	r.bury(11, first.Append(nil)) // as if a replay had been killed before it marked the letter
	require.Equal(t, Result{Written: 1}, r.replay(Filter{States: []State{Open}}))
	r.requireRows(2)
}

// A letter that could not be written again stays open.
func TestAReplayThatFailsMarksNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.event(r.link())
	o := r.bury(0, e.Append(nil))
	writer := r.replayer.Writer
	r.replayer.Writer = away{}
	_, err := r.replayer.Replay(t.Context(), Filter{})
	require.ErrorIs(t, err, producer.ErrUnacknowledged)
	require.Equal(t, map[int64]State{0: Open}, r.states(Filter{}))

	// A discarded one is replayed when it is named.
	_, err = r.box.Discard(t.Context(), []Origin{o}, "by mistake")
	require.NoError(t, err)
	r.replayer.Writer = writer
	require.Equal(t, Result{}, r.replay(Filter{States: []State{Open}}))
	require.Equal(t, Result{Written: 1}, r.replay(Filter{Origins: []Origin{o}}))
	_, err = r.replayer.Replay(t.Context(), Filter{Origins: []Origin{{r.TopicID, 0, 99}}})
	require.ErrorIs(t, err, ErrUnknown)
	r.requireRows(1)
}

// away is a Kafka that does not answer.
type away struct{}

func (away) Write(context.Context, []producer.Record) error { return producer.ErrUnacknowledged }

func TestParallelReplaysStoreOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link()
	for i := range int64(20) {
		e := r.event(link)
		r.bury(i, e.Append(nil))
	}
	var replays errgroup.Group
	for range 2 {
		replays.Go(func() error {
			_, err := r.replayer.Replay(context.Background(), Filter{States: []State{Open}})
			return err
		})
	}
	require.NoError(t, replays.Wait())
	r.requireRows(20)
}
