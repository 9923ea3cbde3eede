package consumer

import (
	"context"
	"runtime/debug"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// A consumer of many partitions would insert a few rows at a time, hundreds of times a second.
func TestBlocksAgeWithTheNumberOfPartitions(t *testing.T) {
	t.Parallel()
	c := Config{BlockAge: 500 * time.Millisecond}
	const insert = 20 * time.Millisecond
	for partitions, age := range map[int]time.Duration{0: c.BlockAge, 24: c.BlockAge, 50: c.BlockAge, 100: time.Second, 300: 3 * time.Second, 5000: maxSharedAge} {
		require.Equal(t, age, c.ageOf(partitions, insert), partitions)
	}
	require.Equal(t, time.Second, c.ageOf(50, 2*insert), "a server that is slower gets fewer inserts")
	c.BlockAge = 20 * time.Second
	require.Equal(t, c.BlockAge, c.ageOf(600, insert), "what is asked for is not shortened")
}

// Blocks get older as ClickHouse gets slower, and younger again. What has other causes than its
// load counts little.
func TestBlocksAgeWithTheTimeOfInserts(t *testing.T) {
	t.Parallel()
	var p pace
	require.Equal(t, assumedInsertTime, p.mean())
	for range 100 {
		p.inserted(500, 50*time.Millisecond)
	}
	require.InDelta(t, 50*time.Millisecond, p.mean(), float64(time.Millisecond))
	p.inserted(smallInsert+1, time.Second)
	require.InDelta(t, 50*time.Millisecond, p.mean(), float64(time.Millisecond), "a large block takes long by its size")
	p.inserted(1, time.Minute)
	require.Less(t, p.mean(), 55*time.Millisecond, "one that waited for another cause")
	for range 100 {
		p.inserted(500, 10*time.Millisecond)
	}
	require.InDelta(t, 10*time.Millisecond, p.mean(), float64(time.Millisecond))
}

// Link views have as many partitions as events and few records: counting them as well would let
// events wait twice as long.
func TestPartitionsWithoutRecordsMakeNoBlockOlder(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	config := r.steady()
	config.BlockAge, config.BlockRows = 30*time.Second, 1000
	c, err := New(config, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	require.NoError(t, <-r.start(c))
	busy := func(n int32) func() bool { return func() bool { return c.pace.busy.Load() == n } }
	for partition := range int32(2) {
		r.produce(partition, r.events(10)...)
	}
	require.Eventually(t, busy(2), waitLimit, time.Millisecond)
	require.EqualValues(t, 8, c.owned.Load())
	r.produce(1, r.events(config.BlockRows-10)...) // which fills the block
	require.Eventually(t, busy(1), waitLimit, time.Millisecond)
	require.NoError(t, c.Stop(context.Background()))
	require.Zero(t, c.pace.busy.Load())
}

// Each partition has a window of repeats, so a limit of memory for few of them would be met by what
// lives.
func TestTheMemoryLimitFollowsThePartitions(t *testing.T) {
	none := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(none)
	c := Config{BufferBytes: 96 << 20}
	followMemory(c, 0, 300)
	require.Equal(t, none, debug.SetMemoryLimit(-1), "the limit of another is left alone")
	debug.SetMemoryLimit(memoryLimit(c, 0))
	followMemory(c, 0, 24)
	require.EqualValues(t, 208<<20, debug.SetMemoryLimit(-1))
	followMemory(c, 24, 324)
	require.EqualValues(t, 958<<20, debug.SetMemoryLimit(-1))
	followMemory(c, 324, 0)
	require.EqualValues(t, 208<<20, debug.SetMemoryLimit(-1))
}
