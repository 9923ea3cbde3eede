package consumer

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// The offsets of a topic start again when it is deleted and made again. The rows of the first one
// must not be taken for those of the second.
func TestATopicRecreatedUnderItsNameWhileItIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.consume(r.config())
	r.produce(0, r.events(30)...)
	r.awaitCommit(0, 30)
	r.requireStored(30)

	admin := kadm.NewClient(r.Client)
	deleted, err := admin.DeleteTopics(t.Context(), event.Topic)
	require.NoError(t, err)
	require.NoError(t, deleted.Error())
	_, err = kafka.CreateTopics(t.Context(), r.Client, kafka.TopicConfig{Partitions: 1, Replication: 1})
	require.NoError(t, err)
	first := r.TopicID
	var second *kgo.Client // one that does not know the old topic
	second, err = kgo.NewClient(append(r.Kafka.Options(testLog()), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	require.NoError(t, err)
	t.Cleanup(second.Close)
	r.Client = second
	r.TopicID, _, err = kafka.Topic(t.Context(), second, event.Topic)
	require.NoError(t, err)
	require.NotEqual(t, first, r.TopicID)
	require.NotEqual(t, uuid.Nil, r.TopicID)

	r.produce(0, r.events(20)...)
	r.awaitCommit(0, 20)
	r.requireStored(20)
}

// Retention may delete what the window of repeats was to be filled from, between reading the
// positions and reading the records.
func TestRecordsBelowTheCommitMayBeDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	stop := r.consume(r.config())
	r.produce(0, r.events(50)...)
	r.awaitCommit(0, 50)
	stop()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 40, LeaderEpoch: -1})
	_, err := kadm.NewClient(r.Client).DeleteRecords(t.Context(), offsets)
	require.NoError(t, err)
	r.produce(0, r.events(20)...)
	r.consume(r.config())
	r.awaitCommit(0, 70)
	r.requireStored(70)
}
