package consumer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// Errors of the protocol that a broker rarely gives, each of them several times while a consumer
// starts and events flow.
func TestRareErrorsOfKafkaLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	total := 0
	for _, c := range []struct {
		request kmsg.Key
		err     *kerr.Error
	}{
		{kmsg.OffsetCommit, kerr.CoordinatorLoadInProgress},
		{kmsg.OffsetCommit, kerr.NotCoordinator},
		{kmsg.OffsetCommit, kerr.RebalanceInProgress},
		{kmsg.OffsetCommit, kerr.UnknownServerError},
		{kmsg.OffsetFetch, kerr.CoordinatorNotAvailable},
		{kmsg.Fetch, kerr.NotLeaderForPartition},
		{kmsg.Fetch, kerr.UnknownServerError},
		{kmsg.Heartbeat, kerr.RebalanceInProgress},
		{kmsg.Heartbeat, kerr.UnknownMemberID},
		{kmsg.ListOffsets, kerr.LeaderNotAvailable},
	} {
		r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{c.request}, Err: c.err, Count: 3})
		stop := r.consume(r.config())
		total += 20
		for partition := range int32(2) {
			r.produce(partition, r.events(10)...)
		}
		for partition := range int32(2) {
			r.awaitCommit(partition, int64(total/2))
		}
		rows, offsets := r.counts()
		require.Equal(t, []uint64{uint64(total), uint64(total)}, []uint64{rows, offsets}, "%s %s",
			c.request.Name(), c.err.Message)
		stop()
	}
}

// What ClickHouse itself refuses makes its partition stand still, in the open and with bounded
// memory, while the others go on; and go on by itself once the cause is fixed.
func TestAPartitionWhoseRowsAreRefusedStandsStillUntilTheCauseIsFixed(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	refused := r.event(0)
	refused.UserAgent = []byte(r.group) // what the table is made to refuse
	r.exec("ALTER TABLE lodestone.events ADD CONSTRAINT test_" + r.account.String()[:8] +
		" CHECK user_agent != '" + r.group + "'")
	repair := func() {
		r.exec("ALTER TABLE lodestone.events DROP CONSTRAINT IF EXISTS test_" + r.account.String()[:8])
	}
	t.Cleanup(repair)

	c := r.steady()
	c.QueueBytes = 1 << 16
	require.NoError(t, c.Validate())
	metrics := prometheus.NewRegistry()
	consumer, err := New(c, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(t, err)
	// No other consumer could store it either, so it stays in its group.
	consumer.leaveAfter = 100 * time.Millisecond
	enginetest.Run(t, consumer)
	r.produce(0, refused)
	require.Eventually(t, func() bool { return gauge(t, metrics, "lodestone_consumer_blocked_partitions") == 1 },
		waitLimit, 20*time.Millisecond)
	member := r.memberIDs()

	large := r.events(2_000)
	for i := range large {
		large[i].Data = fmt.Appendf(nil, `{"filler":%q}`, strings.Repeat("x", 2_400))
	}
	for range 6 { // 30 MB; the halted partition must hold little of it
		r.produce(0, large...)
	}
	r.produce(1, r.events(500)...)
	r.awaitCommit(1, 500)
	var held int
	require.Eventually(t, func() bool {
		consumer.mu.Lock()
		p := consumer.partitions[assignment{event.Topic, 0}]
		consumer.mu.Unlock()
		if p == nil {
			return false // it is being assigned again
		}
		p.queue.mu.Lock()
		defer p.queue.mu.Unlock()
		held = p.queue.bytes
		return p.queue.paused
	}, waitLimit, 20*time.Millisecond)
	require.Less(t, held, 24<<20, "no more than the limit, and what had been fetched when it was reached")
	require.Eventually(t, func() bool { return gauge(t, metrics, "lodestone_consumer_lag_seconds") > 0 },
		waitLimit, 20*time.Millisecond)
	require.Eventually(t, func() bool { return gauge(t, metrics, "lodestone_consumer_lag_records") == 12_001 },
		waitLimit, 50*time.Millisecond,
		"what cannot be read while the partition is paused counts as well")

	require.Equal(t, member, r.memberIDs())
	repair()
	r.awaitCommit(0, 12_001)
	require.Zero(t, gauge(t, metrics, "lodestone_consumer_blocked_partitions"))
	rows, offsets := r.counts()
	require.Equal(t, rows, offsets)
	require.Equal(t, uint64(2_000+500+1), rows, "the same events six times are one each")
}

// One partition of a batch has a row that the table refuses: the rows of the others are stored, and
// what comes behind the refused one waits for it, in its order.
func TestOneRefusedPartitionOfABatchHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	const partitions = 4
	r := newRig(t, partitions)
	constraint := "test_" + r.account.String()[:8]
	r.exec("ALTER TABLE lodestone.events ADD CONSTRAINT " + constraint + " CHECK user_agent != '" + r.group + "'")
	repair := func() { r.exec("ALTER TABLE lodestone.events DROP CONSTRAINT IF EXISTS " + constraint) }
	t.Cleanup(repair)
	metrics := prometheus.NewRegistry()
	config := r.steady()
	config.BatchAge = time.Second
	consumer, err := New(config, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(t, err)
	refused := r.event(0)
	refused.UserAgent = []byte(r.group)
	for p := range int32(partitions) {
		r.produce(p, r.events(10)...)
	}
	r.produce(1, refused)
	r.produce(1, r.events(10)...)
	enginetest.Run(t, consumer)
	for p := range int32(partitions) {
		if p != 1 {
			r.awaitCommit(p, 10)
		}
	}
	require.Eventually(t, func() bool { return gauge(t, metrics, "lodestone_consumer_blocked_partitions") == 1 },
		waitLimit, 20*time.Millisecond)
	for p := range int32(partitions) {
		r.produce(p, r.events(10)...)
	}
	for p := range int32(partitions) {
		if p != 1 {
			r.awaitCommit(p, 20)
		}
	}
	next, _ := r.committed(1)
	require.LessOrEqual(t, next, int64(10))
	repair()
	r.awaitCommit(1, 31)
	r.requireStored(20*partitions + 11)
	require.Zero(t, gauge(t, metrics, "lodestone_consumer_blocked_partitions"))
}

func gauge(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	return metric(t, r, name).GetGauge().GetValue()
}

func counter(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	return metric(t, r, name).GetCounter().GetValue()
}

// metric returns the first of a name.
func metric(t *testing.T, r *prometheus.Registry, name string) *dto.Metric {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0]
		}
	}
	require.Fail(t, "no metric "+name)
	return nil
}
