package spool

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
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
	"lodestone/pkg/test/enginetest"
)

// A broker that does not answer holds up the partitions that it leads, and no others, also when
// more comes later; the order of each key stays.
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
	awaitFrom := func(first int) {
		ctx, cancel := context.WithTimeout(background, enginetest.Timeout)
		defer cancel()
		for {
			fetches := client.PollFetches(ctx)
			require.NoError(t, fetches.Err(), "an event from %d on", first)
			for _, rec := range fetches.Records() {
				if int(eventOf(t, rec.Value).ReceivedAt-1_700_000_000_000) >= first {
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
	require.Eventually(t, func() bool { return r.metric(t, "lodestone_spool_records") == 0 },
		enginetest.Timeout, 10*time.Millisecond)
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
		d, stop := startDrain(t)
		defer stop()
		kafka := d.deps.Kafka.(*moody)
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		written := 0
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(t, "entries") {
					require.NoError(t, d.queue.append(background,
						appendPayload(nil, time.Now(), []producer.Record{record(written)}, nil), 1))
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
				kafka.settle(rapid.IntRange(0, 50).Draw(t, "which"),
					rapid.SampledFrom([]error{kerr.UnknownTopicID, kerr.MessageTooLarge, errors.New("lost")}).Draw(t, "error"))
			},
			"launch while the disk fails": func(t *rapid.T) {
				d.queue.disk.(*brokenDisk).set(func(d *brokenDisk) { d.reading = syscall.EIO })
				launched, err := d.launch(ctx)
				require.False(t, launched)
				if err != nil {
					require.ErrorIs(t, err, errUnreadable)
				}
				d.queue.disk.(*brokenDisk).set(func(d *brokenDisk) { d.reading = nil })
			},
			"land": func(*rapid.T) {
				_ = d.land(ctx) // it sends again what failed, and says so
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
			_ = d.land(ctx)
			launched, err := d.launch(ctx)
			require.NoError(t, err)
			if _, waiting := d.queue.state(); !launched && waiting == 0 && len(d.flights) == 0 {
				break
			}
		}
		close(finish)
		<-ended
		require.Len(t, kafka.has, written)
		used, _ := d.queue.state()
		require.Equal(t, diskUsage(t, d.queue.dir), used)
		require.LessOrEqual(t, len(segmentsIn(t, d.queue.dir)), 1, "only the segment that is written keeps its space")
		require.Zero(t, d.queue.oldest.Load())
		require.Zero(t, value(t, d.queue.metrics.damage))
	})
}

// picky is a Kafka that refuses values above a limit for good.
type picky struct {
	mu    sync.Mutex
	limit int
	tries int // of what is too large
	has   map[string]bool
	// marked counts the records that say that they were spooled.
	marked int
	away   error // of every call after so many
	after  int
}

func (p *picky) Write(_ context.Context, records []producer.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.after--; p.away != nil && p.after < 0 {
		return p.away
	}
	for _, r := range records {
		if len(r.Value) > p.limit {
			p.tries++
			return kerr.MessageTooLarge
		}
	}
	for _, r := range records {
		p.has[string(bytes.TrimSuffix(r.Value, mark))] = true
		if bytes.HasSuffix(r.Value, mark) {
			p.marked++
		}
	}
	return nil
}

func (p *picky) Send(ctx context.Context, records []producer.Record, settled func(int, error)) error {
	for i := range records {
		settled(i, p.Write(ctx, records[i:i+1]))
	}
	return nil
}

func (p *picky) seen() (tries, has int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tries, len(p.has)
}

// What Kafka refuses for good waits, also over a restart, until the topic takes it. The rest of its
// batch is sent once, and events of now go straight to Kafka.
func TestWhatKafkaRefusesForGoodWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kafka := t.TempDir(), &picky{limit: 500, has: map[string]bool{}}
		begin := func() *rig {
			r := &rig{metrics: prometheus.NewRegistry(), disk: &brokenDisk{fast: true}}
			var err error
			r.Spool, err = newSpool(settings(dir), Deps{Kafka: kafka, Log: slog.New(slog.DiscardHandler), Registerer: r.metrics},
				r.disk)
			require.NoError(t, err)
			require.NoError(t, r.Start(t.Context()))
			return r
		}
		r := begin()
		large := record(0)
		large.Value = append(large.Value, make([]byte, 600)...)
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(1), large, record(2)}), "it is durable")
		<-time.After(time.Minute)
		_, has := kafka.seen()
		require.Equal(t, 2, has, "the rest goes on")
		require.Equal(t, 2, kafka.marked, "each once")
		require.InDelta(t, 3, r.metric(t, "lodestone_spool_records"), 0)
		require.Zero(t, r.metric(t, "lodestone_spool_circuit_open"))
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(3)}))
		_, has = kafka.seen()
		require.Equal(t, 3, has, "Kafka was tried first")

		require.NoError(t, r.Stop(t.Context()))
		r = begin()
		<-time.After(time.Minute)
		require.InDelta(t, 3, r.metric(t, "lodestone_spool_records"), 0)
		kafka.mu.Lock()
		kafka.limit = 5000
		kafka.mu.Unlock()
		<-time.After(2 * lastRetry)
		_, has = kafka.seen()
		require.Equal(t, 4, has)
		require.Zero(t, r.metric(t, "lodestone_spool_records"))
		require.Zero(t, r.metric(t, "lodestone_spool_bytes"))
		require.NoError(t, r.Stop(t.Context()))
	})
}

// Kafka takes events, and the disk returns none of the spooled ones: live events go to Kafka.
func TestASpoolThatCannotBeReadKeepsNoLiveEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kafka := t.TempDir(), &picky{limit: 500, has: map[string]bool{}}
		q := open(t, dir, &brokenDisk{fast: true}, 64<<20, 1<<20)
		require.NoError(t, q.append(t.Context(), appendPayload(nil, time.Now(), []producer.Record{record(0)}, mark), 1))
		require.NoError(t, q.close())
		// the recovery can read it
		r := &rig{metrics: prometheus.NewRegistry(), disk: &brokenDisk{fast: true, reading: syscall.EIO, sound: 2}}
		var err error
		r.Spool, err = newSpool(settings(dir), Deps{Kafka: kafka, Log: slog.New(slog.DiscardHandler), Registerer: r.metrics},
			r.disk)
		require.NoError(t, err)
		require.NoError(t, r.Start(t.Context()))
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(1)}))
		<-time.After(2 * time.Minute)
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(2)}))
		_, has := kafka.seen()
		require.Equal(t, 1, has, "the last one did not wait behind what cannot be read")
		require.Positive(t, r.metric(t, "lodestone_spool_read_failures_total"))
		r.disk.set(func(d *brokenDisk) { d.reading = nil })
		<-time.After(time.Minute)
		_, has = kafka.seen()
		require.Equal(t, 3, has)
		require.Zero(t, r.metric(t, "lodestone_spool_records"))
		require.Zero(t, r.metric(t, "lodestone_spool_drops_total"))
		require.NoError(t, r.Stop(t.Context()))
	})
}

func startDrain(t *rapid.T) (*drain, func()) {
	dir, remove := tempDir(t)
	s, err := newSpool(settings(dir), Deps{Kafka: &moody{has: map[string]int{}}, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()}, &brokenDisk{fast: true})
	require.NoError(t, err)
	q := open(t, dir, &brokenDisk{fast: true}, 1<<30, 512)
	s.queue.Store(q)
	return newDrain(s, q), func() {
		require.NoError(t, q.close())
		remove()
	}
}

// BenchmarkDrain reads what was spooled, in the pieces that are sent on, and frees its space;
// sending is the producer's. An operation is one record.
func BenchmarkDrain(b *testing.B) {
	records := make([]producer.Record, 10) // a request of ten events
	for i := range records {
		records[i] = producer.Record{Topic: "lodestone.events", Key: make([]byte, 16), Value: make([]byte, 300)}
	}
	payload := appendPayload(nil, time.UnixMilli(1_795_000_000_000), records, mark)
	q := open(b, b.TempDir(), &brokenDisk{fast: true}, 1<<40, 64<<20)
	for n := 0; n < b.N; n += len(records) {
		if err := q.append(background, payload, len(records)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(payload) / len(records)))
	b.ReportAllocs()
	b.ResetTimer()
	var list []producer.Record
	for {
		piece, err := q.read(4<<20, 20_000)
		if err != nil {
			b.Fatal(err)
		}
		if len(piece.payloads) == 0 {
			break
		}
		list = list[:0]
		for _, p := range piece.payloads {
			if list, err = readPayload(list, p); err != nil {
				b.Fatal(err)
			}
		}
		q.ack(piece.end, piece.records)
	}
	b.StopTimer()
	if err := q.close(); err != nil {
		b.Fatal(err)
	}
}
