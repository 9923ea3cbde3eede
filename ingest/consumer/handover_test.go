package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// longSession is longer than a test waits: a test fails if the group notices the end of a member
// only by the time-out.
const longSession = waitLimit + time.Minute

// steady is config for members that stay in their group until they leave it, though the machine may
// stand still for seconds.
func (r *rig) steady() Config {
	c := r.config()
	c.SessionTimeout, c.RebalanceTimeout = longSession, time.Minute
	return c
}

// owner is a consumer behind a gate of its own.
type owner struct {
	*Consumer
	*gate
}

// owner starts a consumer of the long session.
func (r *rig) owner() owner {
	r.t.Helper()
	return r.ownerOf(r.steady())
}

func (r *rig) ownerOf(config Config) owner {
	r.t.Helper()
	require.NoError(r.t, config.Validate())
	g := newGate(r.t, r.ClickHouse)
	c, err := New(config, Deps{Kafka: r.Kafka, ClickHouse: g.config, Postgres: r.Postgres, Log: testLog(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(r.t, err)
	enginetest.Run(r.t, c)
	return owner{c, g}
}

// owned returns how many partitions a consumer owns, and how many of these are of events.
func (o owner) owned() (all, events int) {
	o.Consumer.mu.Lock()
	defer o.Consumer.mu.Unlock()
	for a := range o.partitions {
		if a.topic == event.Topic {
			events++
		}
	}
	return len(o.partitions), events
}

func (o owner) awaitOwned(t *testing.T, partitions int) {
	t.Helper()
	require.Eventually(t, func() bool { all, _ := o.owned(); return all == partitions }, waitLimit, time.Millisecond)
}

// byEvents returns the one of two consumers that owns more partitions of events first.
func byEvents(a, b owner) (more, other owner) {
	_, left := a.owned()
	if _, right := b.owned(); left >= right {
		return a, b
	}
	return b, a
}

// A consumer that stops says so: the other one has its partitions, and stores what is in them, long
// before the session of the first would have ended. The test logs how long that took.
func requireHandOver(t *testing.T, brokers []string) {
	t.Helper()
	const partitions = 4
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Brokers: brokers, Partitions: partitions}))
	stored, next := 0, int64(0)
	produce := func() {
		t.Helper()
		for partition := range int32(partitions) {
			r.produce(partition, r.events(20)...)
		}
		stored, next = stored+partitions*20, next+20
	}
	await := func() {
		t.Helper()
		for partition := range int32(partitions) {
			r.awaitCommit(partition, next)
		}
		r.requireStored(stored)
	}
	rest := r.owner()
	rest.awaitOwned(t, 2*partitions)
	for _, hangs := range []bool{false, true} {
		joined := r.owner()
		joined.awaitOwned(t, partitions)
		rest.awaitOwned(t, partitions)
		produce()
		await()

		var leaving owner
		leaving, rest = byEvents(joined, rest)
		if hangs {
			// An insert that does not end is left to the next owner, which finds out what is stored of it.
			leaving.hold()
		}
		produce() // some of this is being stored when the consumer stops
		if hangs {
			require.Eventually(t, func() bool { return leaving.status().age > 0 }, waitLimit, time.Millisecond)
		}
		begin := time.Now()
		require.NoError(t, leaving.Stop(context.Background()))
		stopped := time.Since(begin)
		leaving.flow()
		produce()
		rest.awaitOwned(t, 2*partitions)
		owned := time.Since(begin)
		await()
		t.Logf("insert hangs: %v; stopped in %v, its partitions had the other owner after %v, everything was stored after %v",
			hangs, stopped, owned, time.Since(begin))
		require.Equal(t, 1, r.members())
		require.NoError(t, rest.Check(t.Context()))
	}
}

func TestAConsumerThatStopsHandsOver(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	requireHandOver(t, broker.Brokers())
}
