package producer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/producer"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const (
	topic = "topic"
)

func settings() producer.Config {
	return producer.Config{
		RequestTimeout:     5 * time.Second,
		MaxBufferedRecords: 1000, MaxBufferedBytes: 64 << 20,
	}
}

func newCluster(t testing.TB, topics ...string) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topics...))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster
}

func newProducer(t testing.TB, c producer.Config, brokers []string, topics ...string) *producer.Producer {
	t.Helper()
	p, err := producer.New(c, producer.Deps{
		Kafka: kafka.Config{Brokers: brokers}.Options(slog.New(slog.DiscardHandler)), Topics: topics,
		Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
	return p
}

func start(t testing.TB, p *producer.Producer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enginetest.Timeout)
	defer cancel()
	require.NoError(t, p.Start(ctx))
}

func record(key, value string) producer.Record {
	return producer.Record{Topic: topic, Key: []byte(key), Value: []byte(value)}
}

func consume(t testing.TB, brokers []string, topic string, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), enginetest.Timeout)
	defer cancel()
	var list []*kgo.Record
	for len(list) < n {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		list = append(list, fetches.Records()...)
	}
	require.Len(t, list, n)
	return list
}

func requireOrderedByKey(t *testing.T, brokers []string, topic string, p *producer.Producer) {
	t.Helper()
	const keys, perKey = 10, 50
	var wg sync.WaitGroup
	errs := make([]error, keys)
	for k := range keys {
		wg.Go(func() {
			for i := 0; i < perKey; {
				batch := make([]producer.Record, 1+8*(i%2)) // one and nine in turn: both kinds of calls are used again
				for j := range batch {
					batch[j] = producer.Record{Topic: topic, Key: fmt.Append(nil, k), Value: fmt.Append(nil, i+j)}
				}
				ctx, cancel := context.WithTimeout(context.Background(), enginetest.Timeout)
				errs[k] = p.Write(ctx, batch)
				for j := range batch { // they are the caller's again
					clear(batch[j].Key)
					clear(batch[j].Value)
				}
				i += len(batch)
				cancel()
				if errs[k] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	next, partitions := map[string]int{}, map[string]int32{}
	for _, r := range consume(t, brokers, topic, keys*perKey) {
		key := string(r.Key)
		require.Equal(t, fmt.Sprint(next[key]), string(r.Value), "order within a key")
		if next[key] > 0 {
			require.Equal(t, partitions[key], r.Partition)
		}
		next[key], partitions[key] = next[key]+1, r.Partition
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic)
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic)
	start(t, p)
	require.NoError(t, p.Write(context.Background(), nil))
	requireOrderedByKey(t, cluster.ListenAddrs(), topic, p)
}

// makeTopic makes a topic of four partitions, and returns when the brokers know of it, which is a
// short time after they reported that it is created.
func makeTopic(t *testing.T, brokers []string, name string) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	_, err = admin.CreateTopic(context.Background(), 4, 1, nil, name)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		topics, err := admin.ListTopics(context.Background(), name)
		return err == nil && len(topics[name].Partitions) == 4
	}, enginetest.Timeout, 50*time.Millisecond)
	return admin
}

func TestStartWithoutTopic(t *testing.T) {
	t.Parallel()
	p := newProducer(t, settings(), newCluster(t, topic).ListenAddrs(), topic, "another")
	err := p.Start(context.Background())
	require.ErrorIs(t, err, kafka.ErrNoTopic)
	require.ErrorContains(t, err, "another")
	require.ErrorContains(t, err, "lodestone migrate")
}

func TestStartWithoutKafka(t *testing.T) {
	t.Parallel()
	p := newProducer(t, settings(), []string{"127.0.0.1:1"}, topic)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, p.Start(ctx), "start producer")
}

func TestRefusedRecordFailsTheCall(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic)
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic)
	start(t, p)
	big := record("b", string(bytes.Repeat([]byte("x"), 2<<20)))
	err := p.Write(context.Background(), []producer.Record{record("a", "1"), big, record("c", "1")})
	require.ErrorIs(t, err, producer.ErrUnacknowledged)
	require.ErrorIs(t, err, kerr.MessageTooLarge)
	require.NoError(t, p.Write(context.Background(), []producer.Record{record("a", "2")}))
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic)
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic)
	start(t, p)
	fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := p.Write(ctx, []producer.Record{record("a", "1")})
	require.ErrorIs(t, err, producer.ErrUnacknowledged)
	fault.Remove()
	require.NoError(t, p.Write(context.Background(), []producer.Record{record("a", "2")}))
}

// Too many records at once are refused together and at once; there is capacity again when Kafka has
// answered.
func TestFull(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic)
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic)
	start(t, p)
	gate, arrived := make(chan struct{}), make(chan struct{}, 100)
	cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		arrived <- struct{}{}
		cluster.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	batch := func(n int) []producer.Record {
		list := make([]producer.Record, n)
		for i := range list {
			list[i] = record(fmt.Sprint(i), "x")
		}
		return list
	}
	first := make(chan error, 1)
	go func() { first <- p.Write(context.Background(), batch(600)) }()
	<-arrived
	require.ErrorIs(t, p.Write(context.Background(), batch(401)), producer.ErrFull)
	close(gate)
	require.NoError(t, <-first)
	require.NoError(t, p.Write(context.Background(), batch(1000)))
	require.ErrorIs(t, p.Write(context.Background(), batch(1001)), producer.ErrFull)
	large := record("a", string(bytes.Repeat([]byte("x"), 64<<20)))
	require.ErrorIs(t, p.Write(context.Background(), []producer.Record{large}), producer.ErrFull)
	consume(t, cluster.ListenAddrs(), topic, 1600) // nothing of what was refused
}

// Calls that come while a request is under way are held back, and then go together.
func TestCallsGatherWhileARequestIsUnderWay(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic)
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic)
	start(t, p)
	const calls = 300
	var wg sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		wg.Go(func() { errs[i] = p.Write(context.Background(), []producer.Record{record(fmt.Sprint(i), "x")}) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	consume(t, cluster.ListenAddrs(), topic, calls)
}

// A request that is never answered holds others back only briefly.
func TestWhatIsNeverAnsweredHoldsNoOneUp(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, topic, "other")
	p := newProducer(t, settings(), cluster.ListenAddrs(), topic, "other")
	start(t, p)
	fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "other",
		Err: kerr.NotEnoughReplicas, Count: -1})
	ctx, cancel := context.WithCancel(context.Background())
	stuck := make(chan error, 1)
	go func() {
		stuck <- p.Write(ctx, []producer.Record{{Topic: "other", Key: []byte("a"), Value: []byte("x")}})
	}()
	require.Eventually(t, func() bool { return fault.Hits() > 0 }, enginetest.Timeout, time.Millisecond)
	for i := range 20 {
		require.NoError(t, p.Write(context.Background(), []producer.Record{record(fmt.Sprint(i), "x")}))
	}
	select {
	case err := <-stuck:
		require.Fail(t, "it was not stuck", "%v", err)
	default:
	}
	cancel()
	require.ErrorIs(t, <-stuck, producer.ErrUnacknowledged)
	fault.Remove()
}

// BenchmarkWrite determines the linger: calls of one record of 288 bytes, 64 at a time on two
// cores, to the broker in process.
func BenchmarkWrite(b *testing.B) {
	for _, linger := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		b.Run(fmt.Sprintf("linger=%v", linger), func(b *testing.B) {
			cluster := newCluster(b, topic)
			c := settings()
			c.Linger = linger
			p := newProducer(b, c, cluster.ListenAddrs(), topic)
			start(b, p)
			value := bytes.Repeat([]byte(uuid.NewString()), 8)
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				key := uuid.New()
				for pb.Next() {
					if err := p.Write(context.Background(), []producer.Record{{Topic: topic, Key: key[:], Value: value}}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
