//go:build long

package retention_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/retention"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

// A topic was created again, and keys are on another shard than before. Views that have rows on
// both are counted once while these leave, whichever shard drops its rows first.
func TestViewsThatAreOnTwoShardsLeaveOnce(t *testing.T) {
	t.Parallel()
	r := newRigOn(t, enginetest.StackConfig{Partitions: 2, Shards: enginetest.NewShards(t, 2)})
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		id, _, err := kafka.Topic(t.Context(), r.Client, topic)
		require.NoError(t, err)
		r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 1), ($1, 1, $2, 2)",
			id, topic)
		r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 1)", uuid.New(),
			topic)
	}
	same, later, earlier, one := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	r.readFrom(0, same, r.month(5)) // one month, two shards
	r.readFrom(1, same, r.month(5).Add(time.Minute))
	r.readFrom(0, later, r.month(5).Add(time.Hour)) // goes on in the next month, on the other shard
	r.readFrom(1, later, r.month(4))
	r.readFrom(1, earlier, r.month(5).Add(time.Hour)) // the other way round, as with records from a spool
	r.readFrom(0, earlier, r.month(4))
	r.readFrom(1, one, r.month(4))
	r.readFrom(0, one, r.month(0)) // stays
	r.landFrom(0, "a", r.month(5))
	r.landFrom(1, "a", r.month(5).Add(time.Second)) // the same visitor in the same minute
	r.landFrom(1, "b", r.month(5).Add(2*time.Second))
	r.landFrom(0, "a", r.month(5).Add(time.Minute))
	r.landFrom(1, "a", r.month(0))
	r.consume()
	r.requireViews(4, r.month(5), r.month(0), 4)
	r.kafkaForgets()

	recount := func(views int64, landed int64, last time.Time) {
		r.Exec("DELETE FROM counted_partitions")
		r.readFrom(1, uuid.New(), last)
		r.landFrom(0, "a", last)
		r.consume()
		r.requireViews(views, r.month(5), last, landed)
		r.requireVerified()
		r.kafkaForgets()
	}
	require.Equal(t, retention.Result{Dropped: []uint32{r.yyyymm(5)}}, r.expire(4))
	recount(5, 5, r.month(0).Add(time.Hour))
	require.Equal(t, retention.Result{Dropped: []uint32{r.yyyymm(4)}}, r.expire(3))
	recount(6, 6, r.month(0).Add(2*time.Hour))
}

// Months are dropped on every shard: here events are on the first one, and link views on the
// second.
func TestMonthsAreDroppedOnEveryShard(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, enginetest.StackConfig{Partitions: 1, Shards: shards})
	id, _, err := kafka.Topic(t.Context(), r.Client, event.LinkViewTopic)
	require.NoError(t, err)
	r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 2)", id,
		event.LinkViewTopic)
	countersStay(t, r)
	for i, left := range []struct{ events, views uint64 }{{3, 0}, {0, 2}} {
		var n struct{ events, views uint64 }
		require.NoError(t, shards.Conn(t, i).QueryRow(t.Context(),
			"SELECT (SELECT count() FROM lodestone.events), (SELECT count() FROM lodestone.link_views)").Scan(&n.events,
			&n.views))
		require.Equal(t, left, n, "shard %d", i+1)
	}
}
