package consumer

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
)

// expire deletes the records of a partition before the offset, as Kafka's retention does.
func (r *rig) expire(partition int32, before int64) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: partition, At: before, LeaderEpoch: -1})
	_, err := kadm.NewClient(r.Client).DeleteRecords(r.t.Context(), offsets)
	require.NoError(r.t, err)
}

// losses returns the lost ranges of a partition that are on record.
func (r *rig) losses(partition int32) (lost []kafka.Range) {
	r.t.Helper()
	all, err := store.New(r.Postgres.Unscoped()).LostRanges(r.t.Context(), 1)
	require.NoError(r.t, err)
	for _, l := range all {
		if l.TopicID == r.TopicID && l.Partition == partition {
			require.Equal(r.t, event.Topic, l.Topic)
			lost = append(lost, kafka.Range{From: l.FirstOffset, To: l.PastOffset})
		}
	}
	return lost
}

func TestRecordsThatExpiredBeforeTheyWereStoredAreOnRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.produce(0, r.events(20)...)
	r.produce(1, r.events(20)...)
	r.commit(0, 5, r.done())
	r.expire(0, 10)
	metrics := prometheus.NewRegistry()
	c, err := New(r.config(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(t, err)
	enginetest.Run(t, c)
	r.awaitCommit(0, 20)
	r.awaitCommit(1, 20)
	require.NoError(t, c.Check(t.Context()), "the partition goes on")
	require.InDelta(t, 5, counter(t, metrics, "lodestone_consumer_lost_records_total"), 0)
	require.Equal(t, []kafka.Range{{From: 5, To: 10}}, r.losses(0))
	require.Empty(t, r.losses(1))
	r.requireStored(30)
}

func TestOfWhatExpiredOnlyWhatIsNotStoredIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(40)
	r.produce(0, events...)
	// The announced block 5 to 29 got to ClickHouse in part. Its beginning is gone, so it cannot be
	// built again.
	r.commit(0, 5, announced(r.TopicID, 29))
	r.storeRows(0, 0, events[:5]...)
	r.storeRows(0, 8, events[8:12]...)
	r.storeRows(0, 15, events[15:25]...)
	r.expire(0, 20)
	r.consume(r.config())
	r.awaitCommit(0, 40)
	require.Equal(t, []kafka.Range{{From: 5, To: 8}, {From: 12, To: 15}}, r.losses(0))
	r.requireStored(34)
}

// A consumer may die after it recorded the loss and before it committed, and Kafka deletes more
// meanwhile. Or the commit is set back.
func TestALossIsRecordedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.produce(0, r.events(40)...)
	for _, expired := range []struct{ before, committed int64 }{{10, 5}, {10, 5}, {25, 5}, {25, 8}} {
		r.expire(0, expired.before)
		r.commit(0, expired.committed, r.done())
		stop := r.consume(r.config())
		r.awaitCommit(0, 40)
		stop()
	}
	// What lies between is stored since the first time.
	require.Equal(t, []kafka.Range{{From: 5, To: 10}}, r.losses(0))
	r.requireStored(30)

	q := store.New(r.Postgres.Unscoped())
	for _, offsets := range []kafka.Range{{From: 100, To: 120}, {From: 110, To: 130},
		{From: 140, To: 150}, {From: 100, To: 120}} {
		require.NoError(t, q.AddLostRange(t.Context(), store.AddLostRangeParams{
			TopicID: r.TopicID, Copy: 1, Topic: event.Topic, FirstOffset: offsets.From, PastOffset: offsets.To,
		}))
	}
	require.Equal(t, []kafka.Range{{From: 5, To: 10}, {From: 100, To: 130}, {From: 140, To: 150}}, r.losses(0))
}

// Commits expire as well. What lies below the last stored offset was seen.
func TestWithoutACommitWhatExpiredBehindTheLastStoredOffsetIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(30)
	r.produce(0, events...)
	r.storeRows(0, 0, events[0], events[1], events[2])
	r.storeRows(0, 6, events[6]) // 3 to 5 were repeats
	r.expire(0, 10)
	r.consume(r.config())
	r.awaitCommit(0, 30)
	require.Equal(t, []kafka.Range{{From: 7, To: 10}}, r.losses(0))
	r.requireStored(24)
}

func TestAConsumerThatStoredEverythingLosesNothingByRetention(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	stop := r.consume(r.config())
	r.produce(0, r.events(20)...)
	r.awaitCommit(0, 20)
	stop()
	r.expire(0, 20)
	r.produce(0, r.events(5)...)
	r.consume(r.config())
	r.awaitCommit(0, 25)
	require.Empty(t, r.losses(0))
	r.requireStored(25)
}

// The records of quiet partitions expire before 100,000 others have come.
func TestARepeatIsFoundAlthoughTheWindowExpired(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	first, chained, spooled := r.event(0), r.event(1), r.event(2)
	r.produce(0, first, chained, spooled)
	r.produce(0, r.events(3)...)
	late := spooled
	late.Spooled = true
	r.produce(0, chained, late) // repeats, so they have no rows
	stop := r.consume(r.config())
	r.awaitCommit(0, 8)
	stop()
	r.requireStoredRows(6)
	r.expire(0, 8)
	first.CreatedAt += 10 * 24 * 3600 * 1000 // sent again without a time of its own
	r.produce(0, first, chained, spooled, r.event(9))
	stop = r.consume(r.config())
	r.awaitCommit(0, 12)
	stop()
	r.requireStoredRows(7)
	// The next owner finds the announced range stored.
	r.commit(0, 8, announced(r.TopicID, 11))
	r.consume(r.config())
	r.awaitCommit(0, 12)
	r.requireStoredRows(7)
}
