package spool

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/producer"
	"lodestone/pkg/config"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

// rig is a spool before a real producer and a broker whose faults a test can provoke.
type rig struct {
	*Spool
	cluster *kfake.Cluster
	metrics *prometheus.Registry
	log     *bytes.Buffer // read it after the end
	disk    *brokenDisk
	// overtaken says that Kafka takes events again while some still come: these do not wait for those
	// of the spool.
	overtaken bool
}

func newCluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(4, event.Topic)},
		options...)...)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster
}

func newRig(t *testing.T, cluster *kfake.Cluster, c Config) *rig {
	t.Helper()
	return startRig(t, cluster, cluster.ListenAddrs(), c)
}

func startRig(t *testing.T, cluster *kfake.Cluster, brokers []string, c Config) *rig {
	t.Helper()
	r := makeRig(t, cluster, brokers, c)
	enginetest.Run(t, r)
	return r
}

// makeRig returns a rig whose spool is not started.
func makeRig(t *testing.T, cluster *kfake.Cluster, brokers []string, c Config) *rig {
	t.Helper()
	r := &rig{cluster: cluster, metrics: prometheus.NewRegistry(), log: &bytes.Buffer{}, disk: &brokenDisk{}}
	log := slog.New(slog.DiscardHandler)
	p, err := producer.New(producer.Config{
		RequestTimeout: time.Second, MaxBufferedRecords: 50_000, MaxBufferedBytes: 64 << 20,
	}, producer.Deps{
		Kafka:  kafka.Config{Brokers: brokers}.Options(log),
		Topics: []string{event.Topic}, StartAway: true, Log: log, Registerer: r.metrics,
	})
	require.NoError(t, err)
	enginetest.Run(t, p)
	r.Spool, err = newSpool(c, Deps{Kafka: p, Log: slog.New(slog.NewTextHandler(r.log, nil)), Registerer: r.metrics},
		r.disk)
	require.NoError(t, err)
	return r
}

func (r *rig) write(t *testing.T, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		require.NoError(t, r.Write(ctx, []producer.Record{record(n)}), n)
		cancel()
	}
}

func (r *rig) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := r.metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.Fail(t, "no metric", name)
	return 0
}

// stored waits until Kafka has each of the first n events, and returns how often it has each one,
// by whether it is marked as spooled. The order of first occurrences within a key must hold, but in
// a spool that is overtaken.
func (r *rig) stored(t *testing.T, n int) (plain, marked map[int]int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.cluster.ListenAddrs()...), kgo.ConsumeTopics(event.Topic))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
	defer cancel()
	plain, marked = map[int]int{}, map[int]int{}
	seen, last := map[uuid.UUID]bool{}, map[string]int{}
	for len(seen) < n {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err(), "%d of %d events are in Kafka", len(seen), n)
		for _, rec := range fetches.Records() {
			e := eventOf(t, rec.Value)
			id := int(e.ReceivedAt - 1_700_000_000_000)
			if e.Spooled {
				marked[id]++
			} else {
				plain[id]++
			}
			if !seen[e.EventID] {
				seen[e.EventID] = true
				require.True(t, r.overtaken || last[string(rec.Key)] < id+1, "order within a key")
				last[string(rec.Key)] = id + 1
			}
		}
	}
	return plain, marked
}

func (r *rig) holdAcks(t *testing.T) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	r.cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		r.cluster.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

func TestKafkaTakesEventsAndTheSpoolStaysEmpty(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.After = slowAnswer
	r := newRig(t, newCluster(t), c)
	r.write(t, 0, 20)
	plain, marked := r.stored(t, 20)
	require.Len(t, plain, 20)
	require.Empty(t, marked)
	require.Zero(t, r.metric(t, "lodestone_spool_spooled_records_total"))
}

// A collector that gets no events says as well that Kafka is away.
func TestKafkaIsCheckedWithoutEvents(t *testing.T) {
	t.Parallel()
	s, err := New(settings(t.TempDir()), Deps{Kafka: &producer.Producer{}, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	away := errors.New("no broker answers")
	answer := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	require.NoError(t, s.CheckKafka(t.Context(), answer(nil)))
	require.ErrorIs(t, s.CheckKafka(t.Context(), answer(away)), away)
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	require.ErrorIs(t, s.CheckKafka(t.Context(), hangs), context.DeadlineExceeded,
		"a balancer would take /readyz for dead")
	s.circuit.open.Store(true)
	require.ErrorIs(t, s.CheckKafka(t.Context(), answer(nil)), errAway)
}

// Kafka is silent: the first request waits, the others do not, and everything arrives later.
func TestKafkaIsSilentForAWhile(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.After = 10 * time.Second // which the first five must not need on a busy machine
	r := newRig(t, newCluster(t), c)
	r.write(t, 0, 5)
	release := r.holdAcks(t)
	r.write(t, 5, 100) // only the first asks Kafka
	require.InDelta(t, 95, r.metric(t, "lodestone_spool_records"), 0)
	require.InDelta(t, 1, r.metric(t, "lodestone_spool_circuit_open"), 0)
	require.Positive(t, r.metric(t, "lodestone_spool_oldest_seconds"))
	release()
	plain, marked := r.stored(t, 100)
	require.Len(t, marked, 95)
	require.LessOrEqual(t, len(plain), 6, "only the one that was sent before the spool took it is there twice")
	require.Eventually(t, func() bool { return r.metric(t, "lodestone_spool_records") == 0 },
		enginetest.Timeout, 10*time.Millisecond)
	require.Zero(t, r.metric(t, "lodestone_spool_oldest_seconds"))
	require.Eventually(t, func() bool { return r.metric(t, "lodestone_spool_circuit_open") == 0 },
		enginetest.Timeout, 10*time.Millisecond)
	spooled := r.metric(t, "lodestone_spool_spooled_records_total")
	r.write(t, 100, 110)
	r.stored(t, 110)
	require.InDelta(t, spooled, r.metric(t, "lodestone_spool_spooled_records_total"), 0, "straight to Kafka again")
}

// Kafka is away at the start.
func TestKafkaIsAwayAtTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startRig(t, nil, []string{"127.0.0.1:1"}, settings(dir))
	r.write(t, 0, 30)
	require.InDelta(t, 30, r.metric(t, "lodestone_spool_records"), 0)
	require.NoError(t, r.Stop(background)) // an orderly stop keeps them
	cluster := newCluster(t)
	r = newRig(t, cluster, settings(dir))
	_, marked := r.stored(t, 30)
	require.Len(t, marked, 30)
}

func TestKafkaRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, newCluster(t), settings(t.TempDir()))
	fault := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	r.write(t, 0, 40)
	require.Positive(t, r.metric(t, "lodestone_spool_records"))
	fault.Remove()
	r.stored(t, 40)
}

// A topic that takes only small messages for a while: refused records are stored and tried again.
func TestKafkaRefusesLargeMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t, newCluster(t), settings(t.TempDir()))
	fault := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.MessageTooLarge, Count: 8})
	r.write(t, 0, 10)
	require.Eventually(t, func() bool { return fault.Hits() == 8 }, enginetest.Timeout, 10*time.Millisecond)
	client, err := kgo.NewClient(kgo.SeedBrokers(r.cluster.ListenAddrs()...), kgo.ConsumeTopics(event.Topic))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
	defer cancel()
	seen := map[uuid.UUID]bool{}
	for len(seen) < 10 {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		for _, rec := range fetches.Records() {
			require.LessOrEqual(t, bytes.Count(rec.Value, mark), 1)
			seen[eventOf(t, rec.Value).EventID] = true
		}
	}
}

// An acknowledgement that is lost after the write: the events are in Kafka at least once.
func TestAcknowledgementsAreLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, newCluster(t), settings(t.TempDir()))
	r.overtaken = true
	r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 3})
	r.write(t, 0, 30)
	r.stored(t, 30)
}

func TestSpoolIsFull(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.MaxBytes = 4 << 20
	r := newRig(t, newCluster(t), c)
	release := r.holdAcks(t)
	large := record(0)
	big := make([]producer.Record, 400)
	for i := range big {
		big[i] = large
		big[i].Value = bytes.Clone(large.Value)
	}
	var err error
	accepted := 0
	for err == nil {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		err = r.Write(ctx, big)
		cancel()
		accepted++
	}
	require.ErrorIs(t, err, ErrFull)
	require.Greater(t, accepted, 20)
	require.LessOrEqual(t, r.metric(t, "lodestone_spool_bytes"), float64(4<<20))
	require.InDelta(t, 400, r.metric(t, "lodestone_spool_refused_full_records_total"), 0)
	require.Zero(t, r.metric(t, "lodestone_spool_drops_total"))
	release()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		defer cancel()
		return r.Write(ctx, big) == nil
	}, enginetest.Timeout, 20*time.Millisecond)
}

// Neither Kafka nor the disk: nothing is accepted; when Kafka is back, the disk is not needed.
func TestNeitherKafkaNorDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, newCluster(t), settings(t.TempDir()))
	release := r.holdAcks(t)
	r.disk.set(func(d *brokenDisk) { d.creation = errNoSpace })
	ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
	defer cancel()
	err := r.Write(ctx, []producer.Record{record(1)})
	require.ErrorIs(t, err, ErrUnwritable)
	require.ErrorIs(t, err, producer.ErrUnacknowledged)
	release()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		defer cancel()
		return r.Write(ctx, []producer.Record{record(2)}) == nil
	}, enginetest.Timeout, 20*time.Millisecond)
}

// A crash after Kafka has acknowledged and before the position is stored: the records come again.
func TestCrashInTheMiddleOfDraining(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 64<<20, 1<<20)
	for n := range 20 {
		require.NoError(t, q.append(background, appendPayload(nil, time.Now(), []producer.Record{record(n)}, mark), 1))
	}
	require.NoError(t, q.close())
	before := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(before, "spool"), os.DirFS(dir)))
	cluster := newCluster(t)
	r := newRig(t, cluster, settings(dir))
	r.stored(t, 20)
	require.NoError(t, r.Stop(background))
	dir = filepath.Join(before, "spool") // the disk as the crash left it
	r = newRig(t, cluster, settings(dir))
	require.Eventually(t, func() bool { return r.metric(t, "lodestone_spool_drained_records_total") == 20 },
		enginetest.Timeout, 10*time.Millisecond)
	_, marked := r.stored(t, 20)
	for n := range 20 {
		require.LessOrEqual(t, marked[n], 2)
	}
}

// Live events go on while a large backlog is drained.
func TestDrainDoesNotStarveLiveEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 64<<20, 1<<20)
	const backlog = 20_000
	for n := 0; n < backlog; n += 500 {
		records := make([]producer.Record, 500)
		for i := range records {
			records[i] = record(n + i)
		}
		require.NoError(t, q.append(background, appendPayload(nil, time.Now(), records, mark), 500))
	}
	require.NoError(t, q.close())
	c := settings(dir)
	c.After, c.DrainBytes = slowAnswer, 1<<16 // for the backlog it takes longer than that
	r := newRig(t, newCluster(t), c)
	r.circuit.open.Store(false)
	for n := range 50 {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		require.NoError(t, r.Write(ctx, []producer.Record{record(backlog + n)}))
		cancel()
	}
	require.Zero(t, r.metric(t, "lodestone_spool_spooled_records_total"), "none of them had to wait in the spool")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	require.NoError(t, settings("x").Validate())
	err := Config{SegmentBytes: 1 << 29, MaxBytes: 1 << 29, SendTimeout: time.Hour}.Validate()
	require.True(t, config.IsInvalid(err))
	for _, name := range []string{"segment-bytes", "after", "send-timeout", "drain-bytes-per-second"} {
		require.ErrorContains(t, err, "--spool-"+name)
	}
	require.False(t, Config{}.Enabled())
}

// Every acknowledgement takes far longer than a request waits: events go to the spool at once, and
// from there, in large batches, to Kafka.
func TestKafkaIsSlow(t *testing.T) {
	t.Parallel()
	r := newRig(t, newCluster(t), settings(t.TempDir()))
	r.cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		r.cluster.SleepControl(func() { <-time.After(time.Second) })
		return nil, nil, false
	})
	r.write(t, 0, 100)
	plain, marked := r.stored(t, 100)
	require.GreaterOrEqual(t, len(marked), 98)
	require.LessOrEqual(t, len(plain), 3, "only the first waited for Kafka")
	require.InDelta(t, 1, r.metric(t, "lodestone_spool_circuit_open"), 0)
	r.write(t, 100, 110) // nothing waits in the spool, and still no request waits for this Kafka
	require.GreaterOrEqual(t, r.metric(t, "lodestone_spool_spooled_records_total"), 108.0)
	r.stored(t, 110)
}
