package consumer

import (
	"testing"

	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/ingest/logbook"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// expire deletes the records of a partition before the offset, as Kafka's retention does.
func (r *rig) expire(partition int32, before int64) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: partition, At: before, LeaderEpoch: -1})
	_, err := kadm.NewClient(r.Client).DeleteRecords(r.t.Context(), offsets)
	require.NoError(r.t, err)
}

// losses returns the lost ranges of a partition that are on record, acknowledged ones as well.
func (r *rig) losses(partition int32) (lost []kafka.Range) {
	r.t.Helper()
	all, err := logbook.New(r.Postgres).Losses(r.t.Context(), true)
	require.NoError(r.t, err)
	for _, l := range all {
		if l.TopicID == r.TopicID && l.Partition == partition {
			require.Equal(r.t, event.Topic, l.Topic)
			lost = append(lost, l.Offsets)
		}
	}
	return lost
}

func TestRecordsThatExpiredBeforeTheyWereStoredAreOnRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.produce(0, r.events(20)...)
	r.produce(1, r.events(20)...)
	r.commit(0, 5, stream.CommitMetadata(r.TopicID, stream.NoIntent))
	r.expire(0, 10)
	r.consume(r.config())
	r.awaitCommit(0, 20)
	r.awaitCommit(1, 20)
	require.Equal(t, []kafka.Range{{From: 5, To: 10}}, r.losses(0))
	require.Empty(t, r.losses(1))
	r.requireStored(30)
}

func TestOfWhatExpiredOnlyWhatIsNotStoredIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(40)
	r.produce(0, events...)
	// The announced block 5 to 29 got to ClickHouse in part. Its beginning is gone, so it cannot be built again.
	r.commit(0, 5, stream.CommitMetadata(r.TopicID, 29))
	r.storeRows(0, 0, r.group+"before", events[:5]...)
	r.storeRows(0, 8, r.group+"part", events[8:12]...)
	r.storeRows(0, 15, r.group+"rest", events[15:25]...)
	r.expire(0, 20)
	r.consume(r.config())
	r.awaitCommit(0, 40)
	require.Equal(t, []kafka.Range{{From: 5, To: 8}, {From: 12, To: 15}}, r.losses(0))
	r.requireStored(34)
}

// A consumer may die after it recorded the loss and before it committed, and Kafka deletes more meanwhile.
func TestALossIsRecordedOnce(t *testing.T) {
	t.Parallel()
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1})) // a database of its own: all losses are looked at
	r.produce(0, r.events(40)...)
	for _, before := range []int64{10, 10, 25} {
		r.expire(0, before)
		r.commit(0, 5, stream.CommitMetadata(r.TopicID, stream.NoIntent))
		stop := r.consume(r.config())
		r.awaitCommit(0, 40)
		stop()
	}
	// What lies between is stored since the first time.
	require.Equal(t, []kafka.Range{{From: 5, To: 10}}, r.losses(0))
	r.requireStored(30)

	l := logbook.New(r.Postgres)
	other := uuid.New()
	add := func(from, to int64) {
		t.Helper()
		require.NoError(t, l.AddLosses(t.Context(), other, event.Topic, 0, []kafka.Range{{From: from, To: to}}))
	}
	ranges := func() (found []kafka.Range) {
		all, err := l.Losses(t.Context(), false)
		require.NoError(t, err)
		for _, s := range all {
			if s.TopicID == other {
				found = append(found, s.Offsets)
			}
		}
		return found
	}
	add(10, 20)
	add(10, 30)
	add(0, 40)
	add(5, 35)
	require.Equal(t, []kafka.Range{{From: 0, To: 10}, {From: 10, To: 20}, {From: 20, To: 30}, {From: 30, To: 40}}, ranges())
	n, err := l.Unacknowledged(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(45), n)

	all, err := l.Losses(t.Context(), false)
	require.NoError(t, err)
	var numbers []int64
	for _, s := range all {
		numbers = append(numbers, s.Number)
	}
	done, err := l.Acknowledge(t.Context(), "looked into", numbers...)
	require.NoError(t, err)
	require.Equal(t, int64(5), done)
	n, err = l.Unacknowledged(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
}

// Commits expire as well. What lies below the last stored offset was seen.
func TestWithoutACommitWhatExpiredBehindTheLastStoredOffsetIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(30)
	r.produce(0, events...)
	r.storeRows(0, 0, r.group+"before", events[0], events[1], events[2])
	r.storeRows(0, 6, r.group+"more", events[6]) // 3 to 5 were repeats
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
	// The announced block is built the same by the next owner.
	r.commit(0, 8, stream.CommitMetadata(r.TopicID, 11))
	r.consume(r.config())
	r.awaitCommit(0, 12)
	r.requireStoredRows(7)
}
