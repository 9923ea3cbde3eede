package spool

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"lodestone/ingest/producer"
	"lodestone/pkg/event"
)

// A broker that does not answer holds up the partitions that it leads, and no others, also when more
// comes later; the order of each key stays.
func TestOneLeaderThatIsAwayHoldsUpNoOtherPartition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 64<<20, 1<<20)
	for n := range 20 {
		require.NoError(t, q.append(background, appendPayload(nil, time.Now(), []producer.Record{record(n)}, mark), 1))
	}
	require.NoError(t, q.close())
	cluster := newCluster(t, kfake.NumBrokers(2))
	free := map[string]map[int32]kgo.Offset{event.Topic: {}}
	for partition := range int32(4) {
		require.NoError(t, cluster.MoveTopicPartition(event.Topic, partition, partition%2))
		if partition%2 == 1 {
			free[event.Topic][partition] = kgo.NewOffset().AtStart()
		}
	}
	gate := make(chan struct{})
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if cluster.CurrentNode() == 0 {
			cluster.SleepControl(func() { <-gate })
		}
		return nil, nil, false
	})
	r := newRig(t, cluster, settings(dir))
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumePartitions(free))
	require.NoError(t, err)
	defer client.Close()
	awaitFrom := func(least int) {
		ctx, cancel := context.WithTimeout(background, patience)
		defer cancel()
		for {
			fetches := client.PollFetches(ctx)
			require.NoError(t, fetches.Err(), "an event from %d on", least)
			for _, rec := range fetches.Records() {
				if int(eventOf(t, rec.Value).ReceivedAt-1_700_000_000_000) >= least {
					return
				}
			}
		}
	}
	awaitFrom(0)
	r.write(t, 20, 40) // behind what waits for the other broker
	awaitFrom(20)
	_, waiting := r.queue.Load().state()
	require.EqualValues(t, 40, waiting, "nothing is given up before Kafka has all that came before")
	release()
	r.stored(t, 40)
	require.Eventually(t, func() bool { return r.metric(t, "lodestone_spool_records") == 0 }, patience, 10*time.Millisecond)
}

// moody is a Kafka that settles records in any order and with any outcome, as a test says.
type moody struct {
	mu    sync.Mutex
	calls []func(err error) // of records that wait, in order of sending
	has   map[string]int
	full  bool
}

func (m *moody) Write(ctx context.Context, records []producer.Record) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var first error
	all.Add(len(records))
	err := m.Send(ctx, records, func(_ int, err error) {
		mu.Lock()
		if first == nil {
			first = err
		}
		mu.Unlock()
		all.Done()
	})
	if err != nil {
		return err
	}
	all.Wait()
	return first
}

func (m *moody) Send(_ context.Context, records []producer.Record, settled func(int, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		m.full = false
		return producer.ErrFull
	}
	for i, r := range records {
		m.calls = append(m.calls, func(err error) {
			if err == nil {
				m.has[string(r.Value)]++
			}
			settled(i, err)
		})
	}
	return nil
}

// settle ends one of the records that wait.
func (m *moody) settle(which int, err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.calls) == 0 {
		return false
	}
	which %= len(m.calls)
	call := m.calls[which]
	m.calls = append(m.calls[:which], m.calls[which+1:]...)
	call(err)
	return true
}

// Whatever becomes of the records on their way, and in whatever order: the spool gives none up that
// Kafka has not acknowledged, and in the end Kafka has them all.
func TestDrainAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, stop := newDrain(t)
		defer stop()
		kafka := d.deps.Kafka.(*moody)
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		written := 0
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "entries") {
					require.NoError(t, d.queue.append(background, appendPayload(nil, time.Now(), []producer.Record{record(written)}, nil), 1))
					written++
				}
			},
			"launch": func(t *rapid.T) {
				kafka.full = rapid.IntRange(0, 9).Draw(t, "full") == 0
				_, err := d.launch(ctx)
				if err != nil {
					require.ErrorIs(t, err, producer.ErrFull)
				}
			},
			"acknowledge": func(t *rapid.T) { kafka.settle(rapid.IntRange(0, 50).Draw(t, "which"), nil) },
			"fail": func(t *rapid.T) {
				kafka.settle(rapid.IntRange(0, 50).Draw(t, "which"), rapid.SampledFrom([]error{kerr.UnknownTopicID, kerr.MessageTooLarge, errors.New("lost")}).Draw(t, "error"))
			},
			"land": func(t *rapid.T) {
				if slices.ContainsFunc(d.flights, func(f *flight) bool { return f.failed.Load() }) {
					return // what failed is sent again at the end, when Kafka takes everything
				}
				require.NoError(t, d.land(ctx))
			},
			"": func(t *rapid.T) {
				_, waiting := d.queue.state()
				kafka.mu.Lock()
				defer kafka.mu.Unlock()
				require.GreaterOrEqual(t, int(waiting)+len(kafka.has), written, "what Kafka does not have waits in the spool")
			},
		})
		kafka.full = false
		finish, ended := make(chan struct{}), make(chan struct{})
		go func() { // Kafka takes everything from now on
			defer close(ended)
			for {
				select {
				case <-finish:
					return
				default:
					if !kafka.settle(0, nil) {
						runtime.Gosched()
					}
				}
			}
		}()
		for {
			require.NoError(t, d.land(ctx))
			launched, err := d.launch(ctx)
			require.NoError(t, err)
			if _, waiting := d.queue.state(); !launched && waiting == 0 && len(d.flights) == 0 {
				break
			}
		}
		close(finish)
		<-ended
		require.Len(t, kafka.has, written)
	})
}

func newDrain(t *rapid.T) (*drain, func()) {
	dir, remove := tempDir(t)
	s, err := newSpool(settings(dir), Deps{Kafka: &moody{has: map[string]int{}}, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()}, &brokenDisk{fast: true})
	require.NoError(t, err)
	q := open(t, dir, &brokenDisk{fast: true}, 1<<30, 512)
	s.queue.Store(q)
	return &drain{Spool: s, queue: q, settled: make(chan struct{}, 1), retry: firstRetry, limit: maxBatchRecords}, func() {
		require.NoError(t, q.close())
		remove()
	}
}
