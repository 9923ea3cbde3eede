//go:build long

package consumer

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// A topic that is created again has partitions on other shards than before. What a spool sends
// again is found there.
func TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, newStackOf(t, enginetest.StackConfig{Partitions: 2, Shards: shards}))
	r.ClickHouse = clickhouse.Config{URL: shards.Servers[0].URL()}
	earlier, of := *r.Stack, *r
	earlier.TopicID, of.Stack = uuid.New(), &earlier
	events := r.events(3)
	of.storeRows(0, 0, events...)
	r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 1), ($1, 1, $2, 1)",
		earlier.TopicID, event.Topic)
	r.ClickHouse = shards.Config
	stop := r.consume(r.config())
	for p := range int32(2) {
		r.produce(p, r.events(1)...)
		r.awaitCommit(p, 1)
	}
	for i := range events {
		events[i].Spooled = true
	}
	on2 := int32(0)
	if r.placements()[1] == 2 {
		on2 = 1
	}
	require.EqualValues(t, 2, r.placements()[on2])
	r.produce(on2, events...)
	r.awaitCommit(on2, 1+int64(len(events)))
	r.requireStored(2)
	stop()
}
