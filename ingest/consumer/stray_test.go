package consumer

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// sendKeyed writes each event as a collector that distributes keys over so many partitions.
func (r *rig) sendKeyed(partitions int, events ...event.Event) {
	r.t.Helper()
	hash, records := kafka.NewHash(), make([]*kgo.Record, len(events))
	for i, e := range events {
		key := e.AccessLinkID
		records[i] = &kgo.Record{Topic: event.Topic, Partition: hash.Of(key[:], partitions),
			Key: key[:], Value: e.Append(nil)}
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
}

// awaitAll waits until the group has done everything in the log, also what it writes there itself.
func (r *rig) awaitAll() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		ranges, err := kafka.Ranges(r.t.Context(), r.Client, event.Topic)
		all := err == nil
		for partition, held := range ranges {
			next, _ := r.committed(partition)
			all = all && (held.To == 0 || next == held.To)
		}
		return all
	}, waitLimit, 50*time.Millisecond)
}

// Someone added partitions in Kafka, and a collector that does not know the number on record
// distributes keys over all of them. What it writes to the unused ones is stored in the partition
// of its key, once, although events are sent again by collectors that know the number.
func TestRecordsOfUnusedPartitionsAreStoredWithTheirKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	const recorded = 2
	n, err := (kafka.Ledger{Pool: r.Postgres}).Partitions(t.Context(), r.TopicID, event.Topic, recorded)
	require.NoError(t, err)
	require.Equal(t, recorded, n)

	known := r.events(100)
	r.sendKeyed(recorded, known...)
	next := make([]event.Event, len(known))
	for i, e := range known {
		e.EventID = uuid.New()
		next[i] = e
	}
	r.sendKeyed(4, next...)
	stop := r.consume(r.config())
	r.awaitAll()
	r.requireStored(len(known) + len(next))
	require.Zero(t, r.storedIn(2)+r.storedIn(3))

	r.sendKeyed(4, known...)
	r.sendKeyed(recorded, next...)
	r.awaitAll()
	stop()
	r.consume(r.config()) // with the logs as they are by now
	r.sendKeyed(4, append(known, next...)...)
	r.awaitAll()
	r.requireStored(len(known) + len(next))
}

// storedIn returns the number of rows of a partition.
func (r *rig) storedIn(partition int32) (rows uint64) {
	r.t.Helper()
	require.NoError(r.t,
		r.Conn.QueryRow(r.t.Context(),
			"SELECT count() FROM lodestone.events WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}",
			chParameter("topic", r.TopicID.String()), chParameter("partition", fmt.Sprint(partition))).Scan(&rows))
	return rows
}

// A consumer that is lost after it has passed records on, and before its block is done, is followed
// by one that passes them on again.
func TestRecordsThatArePassedOnTwiceAreStoredOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	_, err := (kafka.Ledger{Pool: r.Postgres}).Partitions(t.Context(), r.TopicID, event.Topic, 1)
	require.NoError(t, err)
	events := r.events(20)
	r.sendKeyed(2, events...)
	stop := r.consume(r.config())
	r.awaitAll()
	stop()
	r.requireStored(len(events))
	r.commit(1, 0, r.done())
	r.consume(r.config())
	r.awaitAll()
	r.requireStored(len(events))
}
