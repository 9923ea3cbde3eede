package consumer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// Each copy of the events is stored by a consumer group of its own, whenever that begins: all of
// them have each event, once, at the same place.
func TestTwoCopiesAreStoredByGroupsOfTheirOwn(t *testing.T) {
	t.Parallel()
	first := newRigOn(t, newStackOf(t, enginetest.StackConfig{Partitions: 2}))
	second := newRigOn(t, first.AddCopy(2))
	second.group, second.account = second.ClickHouse.Group(first.group), first.account
	both := []*rig{first, second}
	stop := first.consume(first.config())
	for p := range int32(2) {
		first.produce(p, first.events(50)...)
		first.awaitCommit(p, 50)
	}
	second.consume(second.config())
	for p := range int32(2) {
		second.awaitCommit(p, 50)
	}
	stop() // the other copy is filled without it
	for p := range int32(2) {
		first.produce(p, first.events(50)...)
		second.awaitCommit(p, 100)
	}
	second.requireStored(200)
	first.requireStored(100)
	first.consume(first.config())
	for p := range int32(2) {
		first.awaitCommit(p, 100)
	}
	var sums [2]uint64
	for i, r := range both {
		r.requireStored(200)
		require.NoError(t, r.Conn.QueryRow(t.Context(),
			"SELECT groupBitXor(sipHash64(event_id, kafka_partition, kafka_offset)) FROM lodestone.events WHERE kafka_topic_id = ?", r.TopicID).Scan(&sums[i]))
		for _, shard := range r.placements() {
			require.Equal(t, int32(i+1), clickhouse.CopyOf(uint16(shard)))
		}
	}
	require.Equal(t, sums[0], sums[1])
}
