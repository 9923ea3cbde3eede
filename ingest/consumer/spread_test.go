//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
)

// newSpreader returns an installation with one server, and the settings with which it gets a second one.
func newSpreader(t *testing.T, partitions int32) (g *grower, shards *enginetest.Shards) {
	t.Helper()
	shards = enginetest.NewShards(t, 2)
	g = newGrowerOn(t, newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: partitions, Shards: shards})), partitions)
	g.ClickHouse = clickhouse.Config{URL: shards.Servers[0].URL()}
	return g, shards
}

// Events that are sent again from a spool are looked for where the parent of their partition stored them, and its parent, further back than the
// window of repeats reaches. While that shard is away, they wait.
func TestARepeatFromASpoolIsFoundOnTheShardsOfAncestors(t *testing.T) {
	t.Parallel()
	g, shards := newSpreader(t, 1)
	c := g.config()
	c.BlockRows = 20_000
	events := g.events(100)
	stop := g.consume(c)
	g.send(1, false, events...)
	for range 11 { // more than the window holds
		g.produce(0, g.events(10_000)...)
	}
	g.awaitAll()
	stop()
	stored := 110_000 + len(events)
	g.requireStored(stored)

	g.ClickHouse = shards.Config
	stop = g.consume(c)
	for range 2 {
		g.double()
		g.awaitDivided()
	}
	g.awaitAll()
	require.EqualValues(t, 2, g.placements()[1])
	g.send(4, true, events...)
	g.awaitAll()
	g.requireStored(stored)
	require.Positive(t, g.end(1)+g.end(3), "repeats whose partition is on the other shard")

	require.NoError(t, shards.Servers[0].Stop(t.Context()))
	g.send(4, true, events...)
	fresh := g.follow(events)
	g.send(4, true, fresh...)
	require.NoError(t, shards.Servers[0].Start(t.Context()))
	g.awaitAll()
	g.requireStored(stored + len(fresh))
	stop()
}

// The log of the parent has expired when its child begins: all repeats are looked for on the parent's shard.
func TestRepeatsOfAParentWhoseLogExpiredAreFoundOnItsShard(t *testing.T) {
	t.Parallel()
	g, shards := newSpreader(t, 2)
	events := g.events(200)
	stop := g.consume(g.config())
	g.send(2, false, events...)
	g.awaitAll()
	stop()
	ends, err := kadm.NewClient(g.Client).ListEndOffsets(t.Context(), event.Topic)
	require.NoError(t, err)
	_, err = kadm.NewClient(g.Client).DeleteRecords(t.Context(), ends.Offsets())
	require.NoError(t, err)

	g.ClickHouse = shards.Config
	g.consume(g.config())
	g.double()
	g.awaitDivided()
	g.send(4, false, events...)
	g.send(4, false, g.follow(events)...)
	g.awaitAll()
	require.Equal(t, map[int32]int32{0: 1, 1: 1, 2: 2, 3: 2}, g.placements())
	require.Positive(t, g.end(2)+g.end(3))
	g.requireStored(2 * len(events))
}

// A topic that is created again has partitions on other shards than before. What a spool sends again is found there.
func TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, Shards: shards}))
	r.ClickHouse = clickhouse.Config{URL: shards.Servers[0].URL()}
	earlier, of := *r.Stack, *r
	earlier.TopicID, of.Stack = uuid.New(), &earlier
	events := r.events(3)
	of.storeRows(0, 0, "earlier", events...)
	r.Exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, $2, 1), ($1, 1, $2, 1)", earlier.TopicID, event.Topic)
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

// A partition's cut is not on record before everything below is stored: its child, on another shard, begins then.
func TestACutIsRecordedOnceItsPartitionIsStored(t *testing.T) {
	t.Parallel()
	g, shards := newSpreader(t, 1)
	g.ClickHouse = shards.Config
	c := g.config()
	c.BlockAge = time.Second
	g.consume(c)
	g.send(1, false, g.events(50)...)
	g.awaitAll()
	require.NoError(t, shards.Servers[0].Stop(t.Context()))
	events := g.events(50)
	records := append(keyed(g.hash, 1, false, events...), &kgo.Record{Topic: event.Topic, Partition: 0, Value: event.AppendGrowth(nil, 2)})
	require.NoError(t, g.Client.ProduceSync(t.Context(), records...).FirstErr())
	g.double()
	g.send(2, false, g.follow(events)...)
	require.Eventually(t, func() bool { // the block is announced, and cannot be stored
		next, intent := g.committed(0)
		return next == 50 && intent >= 50
	}, waitLimit, 20*time.Millisecond)
	require.Equal(t, []int32{1}, g.layout().Waiting())
	require.NoError(t, shards.Servers[0].Start(t.Context()))
	g.awaitDivided()
	g.awaitAll()
	g.requireStored(150)
}
