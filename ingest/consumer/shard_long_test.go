//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// The first placement of a partition waits until every shard was asked for its rows, and takes the
// shard that has some.
func TestAPartitionIsPlacedWhereItsRowsAre(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, Shards: shards}))
	stop := r.consume(r.config())
	for p := range int32(2) {
		r.produce(p, r.events(100)...)
		r.awaitCommit(p, 100)
	}
	stop()
	where := r.placements()
	// Postgres is restored from a backup, and the group's commits are lost.
	r.Exec("DELETE FROM partition_placements")
	require.NoError(t, shards.Servers[1].Stop(t.Context()))
	registry := prometheus.NewRegistry()
	c, err := New(r.config(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: registry})
	require.NoError(t, err)
	require.NoError(t, <-r.start(c))
	for p := range int32(2) {
		r.produce(p, r.events(100)...)
	}
	require.Eventually(t, func() bool { return gauge(t, registry, "lodestone_consumer_partitions") == 4 },
		waitLimit, 20*time.Millisecond)
	require.Empty(t, r.placements())
	require.NoError(t, shards.Servers[1].Start(t.Context()))
	for p := range int32(2) {
		r.awaitCommit(p, 200)
	}
	require.Equal(t, where, r.placements())
	r.requireStored(400)
}
