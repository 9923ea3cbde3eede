package stream

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/store"
)

// The partitions of a consumer are asked for one after the other, each for seconds if a server is
// silent. One that is stopped waits for no other.
func TestAPartitionThatIsStoppedWaitsForNoQuestionOfAnother(t *testing.T) {
	t.Parallel()
	l := NewPlacements(nil, nil)
	l.asking <- struct{}{} // another asks, and gets no answer
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, _, err := l.ask(ctx, Partition{})
	require.ErrorIs(t, err, context.Canceled)
}

// A partition goes to the shard with the fewest of its topic.
func TestANewPartitionIsPlacedOnTheShardWithTheFewest(t *testing.T) {
	t.Parallel()
	topic, earlier := uuid.New(), uuid.New()
	placed := []store.PlacementsOfNameRow{{TopicID: earlier, Partition: 4, Shard: 1},
		{TopicID: earlier, Partition: 5, Shard: 2}}
	for p := range int32(4) {
		placed = append(placed, store.PlacementsOfNameRow{TopicID: topic, Partition: p, Shard: 1})
	}
	ids := []uint16{2, 1}
	for p := int32(4); p < 8; p++ {
		added := Partition{TopicID: topic, Number: p}
		require.EqualValues(t, 1, chooseShard(added, ids, []uint16{1}, placed), "rows that are there decide")
		require.EqualValues(t, 2, chooseShard(added, ids, nil, placed))
		placed = append(placed, store.PlacementsOfNameRow{TopicID: topic, Partition: p, Shard: 2})
	}
	require.EqualValues(t, 1, chooseShard(Partition{TopicID: topic, Number: 8}, ids, nil, placed),
		"the first of several with as many")
}
