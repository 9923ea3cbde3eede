// Package producer writes records to Kafka and reports when they are acknowledged.
package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

// Record is one record to write. Records of one key keep their order and share a partition.
type Record struct {
	Topic string
	Key   []byte
	Value []byte
	Trace string // place in a trace, as the header traceparent; "": none
}

// Deps are the dependencies of a producer.
type Deps struct {
	Kafka      []kgo.Opt             // how to reach Kafka: seeds, TLS, login
	Topics     []string              // which must exist when the producer starts
	Partitions kafka.PartitionLedger // over how many partitions keys are distributed; nil: as many as Kafka has
	StartAway  bool                  // start although Kafka does not answer or lacks a topic: the spool stores the records
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Producer writes records to Kafka: idempotent, acknowledged by all in-sync replicas. It is a
// service.Service; Write is safe for concurrent use between Start and Stop.
type Producer struct {
	config    Config
	deps      Deps
	client    *kgo.Client
	coalescer coalescer
	calls     sync.Pool // of *pending, for one record
	batches   sync.Pool // of *pending, for several
	metrics   metrics
	records   atomic.Int64 // reserved by Write and not settled yet
	bytes     atomic.Int64
	failed    chan error

	failures failures

	counts *kafka.Counts        // of partitions
	ids    map[string]uuid.UUID // of the topics, when their counts were read
	unread context.CancelFunc   // ends reading them

	forgetting atomic.Bool    // a topic that was recreated is being forgotten
	background sync.WaitGroup // the goroutine that does so, and the one that reads counts
}

var _ service.Service = (*Producer)(nil)

// New returns a producer. It does not connect: Start does.
func New(c Config, d Deps) (*Producer, error) {
	counts := kafka.NewCounts(d.Topics...)
	opts := append([]kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(c.Linger),
		kgo.ProducerBatchCompression(kgo.SnappyCompression()),
		// The hash of Kafka's Java clients: other tools find a key in the same partition.
		kgo.RecordPartitioner(counts),
		// No RecordDeliveryTimeout: the context of each Write ends what was never sent. A record in
		// flight whose outcome is unknown stays until Kafka answers, since giving it up would break
		// the sequence that idempotence relies on.
		kgo.ProduceRequestTimeout(c.RequestTimeout),
		kgo.RequestTimeoutOverhead(c.RequestTimeout),
		// After a leader has moved, learn the new one soon: requests wait for it.
		kgo.MetadataMinAge(250 * time.Millisecond),
		// Write reserves capacity before, so that it never stops half-way through a request; these are
		// beyond its limits and are never reached.
		kgo.MaxBufferedRecords(int(2 * c.MaxBufferedRecords)),
	}, d.Kafka...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("make Kafka producer: %w", err)
	}
	p := &Producer{config: c, deps: d, client: client, failed: make(chan error), counts: counts,
		ids: map[string]uuid.UUID{}, unread: func() {}}
	p.coalescer.flush, p.calls.New, p.batches.New = p.flush, p.newPending, p.newPending
	if p.metrics, err = newMetrics(d.Registerer, &p.records, &p.bytes); err != nil {
		client.Close()
		return nil, err
	}
	return p, nil
}

// Start waits until Kafka answers, and checks that the topics exist: the error about a missing
// topic wraps kafka.ErrNoTopic and names the remedy. With StartAway it waits for one answer only,
// and starts without it and without the topics.
func (p *Producer) Start(ctx context.Context) error {
	if err := p.awaitTopics(ctx); err != nil {
		return err
	}
	if p.deps.Partitions != nil {
		p.readCounts(ctx)
		running, stop := context.WithCancel(context.Background())
		p.unread = stop
		p.background.Go(func() { p.followCounts(running) })
	}
	return nil
}

func (p *Producer) awaitTopics(ctx context.Context) error {
	const retryAfter = 500 * time.Millisecond
	for _, topic := range p.deps.Topics {
		for {
			attempt, cancel := context.WithTimeout(ctx, p.timeout())
			_, _, err := kafka.Topic(attempt, p.client, topic)
			cancel()
			if err == nil {
				break
			}
			if errors.Is(err, kafka.ErrNoTopic) && !p.deps.StartAway {
				return fmt.Errorf("start producer: %w", err)
			}
			if p.deps.StartAway {
				p.deps.Log.Warn("starting although Kafka does not accept events yet", "topic", topic, "error", err)
				return nil
			}
			p.deps.Log.Warn("Kafka does not answer yet, trying again", "topic", topic, "error", err)
			if service.Sleep(ctx, retryAfter) != nil {
				return fmt.Errorf("start producer: %w", err)
			}
		}
	}
	return nil
}

// timeout bounds the wait for one answer at the start.
func (p *Producer) timeout() time.Duration {
	if p.deps.StartAway {
		return 2 * time.Second
	}
	return 5 * time.Second
}

// Stop closes the connections. Records that still wait for Kafka fail: stop the callers of Write
// first. It returns at once.
func (p *Producer) Stop(context.Context) error {
	p.unread()
	p.client.Close()
	p.background.Wait()
	return nil
}

// Failed implements service.Service. A producer does not end by itself.
func (p *Producer) Failed() <-chan error { return p.failed }
