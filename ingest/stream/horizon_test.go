package stream

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

// horizonRig is a stack with the horizon of copy 2, which a test looks with itself.
type horizonRig struct {
	*enginetest.Stack
	*Horizon
	t *testing.T
}

func newHorizonRig(t *testing.T) *horizonRig {
	t.Helper()
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2})
	return &horizonRig{Stack: s, t: t, Horizon: NewHorizon(HorizonDeps{
		Group: "g", Copy: 2, Kafka: s.Kafka, Postgres: s.Postgres, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(),
	})}
}

func (r *horizonRig) look() {
	r.t.Helper()
	require.NoError(r.t, r.Horizon.look(r.t.Context(), r.Client))
}

// produce produces with a client that has known no topic before.
func (r *horizonRig) produce() {
	r.t.Helper()
	client, err := kgo.NewClient(append(r.Kafka.Options(slog.New(slog.DiscardHandler)),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	require.NoError(r.t, err)
	defer client.Close()
	require.NoError(r.t, client.ProduceSync(r.t.Context(), &kgo.Record{Topic: event.Topic, Partition: 1,
		Value: []byte("r")}).FirstErr())
}

// commit commits an offset of the partition, as a consumer of a topic with the id does.
func (r *horizonRig) commit(at int64, topicID uuid.UUID) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	none := Announcement{Rules: BlockRules, TopicID: topicID, Last: NoIntent}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 1, At: at, LeaderEpoch: -1, Metadata: none.String()})
	require.NoError(r.t, kadm.NewClient(r.Client).CommitAllOffsets(r.t.Context(), "g", offsets))
}

// storedUntil returns what is on record of a copy; the zero time stands for nothing.
func (r *horizonRig) storedUntil(number int) (at time.Time) {
	r.t.Helper()
	require.NoError(r.t, r.Postgres.Unscoped().QueryRow(r.t.Context(),
		"SELECT coalesce(nullif(stored_until, '-infinity'), '0001-01-01T00:00:00Z') FROM copies WHERE copy = $1",
		number).Scan(&at))
	return at.UTC()
}

func (r *horizonRig) lagging(number string) float64 {
	r.t.Helper()
	var m dto.Metric
	require.NoError(r.t, r.lag.WithLabelValues(number).Write(&m))
	return m.GetGauge().GetValue()
}

func TestOneCopyHasNoHorizon(t *testing.T) {
	t.Parallel()
	r := newHorizonRig(t)
	r.produce()
	r.commit(1, r.TopicID)
	for range 2 {
		r.look()
		require.Nil(t, r.mark)
	}
	require.Zero(t, r.storedUntil(1))
	require.Zero(t, r.lagging("1"))
}

// Those who read go by the record of a copy until they no longer know of the one that was removed.
func TestTheCopyThatIsLeftKeepsItsHorizon(t *testing.T) {
	t.Parallel()
	r := newHorizonRig(t)
	r.Exec("SELECT add_copy(2)")
	r.look()
	r.look()
	before := r.storedUntil(2)
	require.NotZero(t, before)
	r.Exec("SELECT remove_copy(1)")
	require.Eventually(t, func() bool {
		r.look()
		return r.storedUntil(2).After(before)
	}, enginetest.Timeout, 10*time.Millisecond)
}

func TestTheHorizonFollowsTheCommits(t *testing.T) {
	t.Parallel()
	r := newHorizonRig(t)
	r.Exec("SELECT add_copy(2)")
	r.look()
	empty := r.mark.at
	r.produce()
	r.produce()
	r.look() // the logs were empty at the mark, which is therefore reached
	require.Equal(t, empty.UTC(), r.storedUntil(2))
	two := r.mark.at
	r.produce()
	r.look() // without commits
	r.commit(1, r.TopicID)
	r.look()
	require.Equal(t, two, r.mark.at)
	require.Equal(t, empty.UTC(), r.storedUntil(2))
	require.Positive(t, r.lagging("2"))
	r.commit(2, r.TopicID) // what came after the mark does not matter
	r.look()
	require.Equal(t, two.UTC(), r.storedUntil(2))
	require.True(t, r.mark.at.After(two))
	require.Zero(t, r.storedUntil(1), "it is of another consumer")
}

// A commit of a topic that was deleted says nothing about the one that has its name now.
func TestACommitOfADeletedTopicIsNoHorizon(t *testing.T) {
	t.Parallel()
	r := newHorizonRig(t)
	r.Exec("SELECT add_copy(2)")
	r.produce()
	r.look()
	old := r.TopicID
	admin := kadm.NewClient(r.Client)
	_, err := admin.DeleteTopics(t.Context(), event.Topic)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kafka.CreateTopics(t.Context(), r.Client, kafka.TopicConfig{Partitions: 2, Replication: 1})
		if err == nil {
			r.TopicID, _, err = kafka.Topic(t.Context(), r.Client, event.Topic)
		}
		return err == nil && r.TopicID != old
	}, enginetest.Timeout, 20*time.Millisecond)
	r.commit(1, old)
	r.produce()
	r.look()
	require.Zero(t, r.storedUntil(2), "the mark is of the topic before")
	at := r.mark.at
	r.look()
	require.Zero(t, r.storedUntil(2), "so is the commit")
	r.commit(1, r.TopicID)
	r.look()
	require.Equal(t, at.UTC(), r.storedUntil(2))
}
