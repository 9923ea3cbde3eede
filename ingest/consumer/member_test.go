package consumer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// members returns how many consumers the group has.
func (r *rig) members() int { return len(r.memberIDs()) }

// memberIDs returns the ids of the group's consumers. One that leaves and joins again gets another
// one.
func (r *rig) memberIDs() (ids []string) {
	r.t.Helper()
	groups, err := kadm.NewClient(r.Client).DescribeGroups(context.Background(), r.group)
	require.NoError(r.t, err)
	for _, m := range groups[r.group].Members {
		ids = append(ids, m.MemberID)
	}
	return ids
}

// start starts a consumer in the background, which waits for ClickHouse. The channel has the
// outcome of the start.
func (r *rig) start(c *Consumer) <-chan error {
	started := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		started <- c.Start(ctx)
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
		require.NoError(r.t, c.Stop(context.Background()))
	})
	return started
}

// A consumer that cannot write would take partitions from those that can.
func TestAConsumerWithoutClickHouseDoesNotJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	g := newGate(t, r.ClickHouse)
	g.close()
	r.requireJoinsAfter(g.config, g.open)
}

// A supervisor that starts a process again pauses longer and longer, so an outage of Postgres would
// outlast itself.
func TestAConsumerThatStartsWithoutPostgresWaitsForIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	g := newGate(t, clickhouse.Config{URL: r.PostgresURL})
	g.close()
	c, err := New(r.config(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse,
		Postgres: enginetest.PostgresPool(t, g.config.URL), Log: testLog(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	started := r.start(c)
	g.awaitEnded(3)
	select {
	case err := <-started:
		require.NoError(t, err, "without Postgres")
	default:
	}
	g.open()
	require.NoError(t, <-started)
	r.produce(0, r.events(100)...)
	r.awaitCommit(0, 100)
	r.requireStored(100)
}

// requireJoinsAfter fails unless a consumer with the settings leaves the partitions to another one,
// and joins once the cause is repaired.
func (r *rig) requireJoinsAfter(config clickhouse.Config, repair func()) {
	r.t.Helper()
	metrics := prometheus.NewRegistry()
	wrong, err := New(r.steady(), Deps{Kafka: r.Kafka, ClickHouse: config, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(r.t, err)
	require.Error(r.t, wrong.probe(r.t.Context()))
	started := r.start(wrong)
	r.consume(r.steady())
	for partition := range int32(2) {
		r.produce(partition, r.events(100)...)
		r.awaitCommit(partition, 100)
	}
	r.requireStored(200)
	require.Equal(r.t, 1, r.members())
	require.Zero(r.t, gauge(r.t, metrics, "lodestone_consumer_joined"))
	require.Error(r.t, wrong.Check(r.t.Context()))
	select {
	case err := <-started:
		require.Fail(r.t, "it is ready", "%v", err)
	default:
	}

	repair()
	require.NoError(r.t, <-started)
	require.Eventually(r.t, func() bool { return r.members() == 2 }, waitLimit, 20*time.Millisecond)
	require.NoError(r.t, wrong.Check(r.t.Context()))
}

// Whose ClickHouse is away for long leaves its partitions to others, and comes back.
func TestAConsumerThatCannotWriteLeavesItsPartitionsToOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	g := newGate(t, r.ClickHouse)
	r.requireLeaves(g.config, g.close, g.open)
}

// requireLeaves fails unless a consumer with the settings leaves its group after the fault, and
// works again after the repair.
func (r *rig) requireLeaves(config clickhouse.Config, fault, repair func()) {
	t := r.t
	t.Helper()
	c, err := New(r.steady(), Deps{Kafka: r.Kafka, ClickHouse: config, Postgres: r.Postgres, Log: testLog(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	c.leaveAfter = 100 * time.Millisecond
	require.NoError(t, <-r.start(c))
	produce := func() {
		t.Helper()
		for partition := range int32(2) {
			r.produce(partition, r.events(50)...)
		}
	}
	await := func(next int64) {
		t.Helper()
		for partition := range int32(2) {
			r.awaitCommit(partition, next)
		}
	}
	produce()
	await(50)
	fault()
	produce()
	require.Eventually(t, func() bool {
		err := c.Check(t.Context()) // readiness
		return r.members() == 0 && err != nil && strings.Contains(err.Error(), "not a member of the consumer group")
	}, waitLimit, 20*time.Millisecond)
	stop := r.consume(r.steady())
	await(100)
	produce()
	await(150)
	stop()
	repair()
	produce()
	await(200)
	r.requireStored(400)
	require.NoError(t, c.Check(t.Context()))
}

// Whoever finds what makes a partition stand still may find it after the partition has been given
// back.
func TestAPartitionThatWasGivenBackDoesNotStandStill(t *testing.T) {
	t.Parallel()
	a := assignment{event.Topic, 1}
	c := &Consumer{log: testLog(), partitions: map[assignment]*partition{}, halted: map[assignment]error{}, joined: true}
	p := &partition{queue: newQueue(1<<20, nil, func() {}, func() {})}
	c.partitions[a] = p
	c.giveBack(map[string][]int32{a.topic: {a.partition}}, false)
	c.halt(a, p, &newerError{7, event.ErrNewer})
	require.NoError(t, c.Check(t.Context()))
}
