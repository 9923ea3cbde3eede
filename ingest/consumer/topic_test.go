package consumer

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// recreate deletes the topic of events and makes it again, with as many partitions.
func (r *rig) recreate() {
	r.t.Helper()
	admin := kadm.NewClient(r.Client)
	before, err := admin.ListTopics(r.t.Context(), event.Topic)
	require.NoError(r.t, err)
	deleted, err := admin.DeleteTopics(r.t.Context(), event.Topic)
	require.NoError(r.t, err)
	require.NoError(r.t, deleted.Error())
	_, err = kafka.CreateTopics(r.t.Context(), r.Client,
		kafka.TopicConfig{Partitions: int32(len(before[event.Topic].Partitions)), Replication: 1})
	require.NoError(r.t, err)
	// A client that does not know the old topic.
	r.Client, err = kgo.NewClient(append(r.Kafka.Options(testLog()), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	require.NoError(r.t, err)
	r.t.Cleanup(r.Client.Close)
	r.TopicID, _, err = kafka.Topic(r.t.Context(), r.Client, event.Topic)
	require.NoError(r.t, err)
}

// The offsets of a topic start again when it is deleted and made again. The rows of the first one
// must not be taken for those of the second.
func TestATopicRecreatedUnderItsNameWhileItIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.consume(r.config())
	r.produce(0, r.events(30)...)
	r.awaitCommit(0, 30)
	r.requireStored(30)

	first := r.TopicID
	r.recreate()
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

// layout is how the procedure of docs/operations.md writes records to a file. The program that it
// names reads and writes by these functions of the Kafka client.
const layout = "%K{big32}%k%V{big32}%v"

// A log lost its end and grew past it. The topic is recreated as docs/operations.md says: each
// acknowledged event is stored once, those that were stored under the old topic as well as those
// that had taken their offsets.
func TestTheTopicOfALogThatLostItsEndIsRecreated(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(page), "'"+layout+"'"))

	r := newRig(t, 2)
	old, fresh := r.events(10), r.events(8)
	r.produce(0, old[:5]...)
	r.storeRows(0, 0, old...)
	r.commit(0, 10, r.done())
	r.produce(0, fresh...) // acknowledged at offsets 5 to 12
	r.requireHalted(haltedLog, "recreate the topic")

	var file bytes.Buffer
	write, err := kgo.NewRecordFormatter(layout)
	require.NoError(t, err)
	from := kafka.Range{From: 2, To: 13} // before the end that was lost
	require.NoError(t, kafka.ReadRange(t.Context(), r.Kafka.Options(testLog()), event.Topic, 0, from,
		func(record *kgo.Record) error {
			_, err := file.Write(write.AppendRecord(nil, record))
			return err
		}))
	first := r.TopicID
	r.recreate()
	read, err := kgo.NewRecordReader(&file, layout)
	require.NoError(t, err)
	for range from.To - from.From {
		record, err := read.ReadRecord()
		require.NoError(t, err)
		record.Topic = event.Topic
		require.NoError(t, r.Client.ProduceSync(t.Context(), record).FirstErr())
	}
	_, err = read.ReadRecord()
	require.ErrorIs(t, err, io.EOF)
	r.consume(r.config())
	r.awaitCommit(0, 11)
	// A client that did not get its 202 sends again.
	r.produce(0, old[9], fresh[0], r.event(20))
	r.awaitCommit(0, 14)
	r.requireStored(len(fresh) + 1)
	r.TopicID = first
	r.requireStored(len(old) + 1) // and one that shows that the other partition went on
}
