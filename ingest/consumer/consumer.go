// Package consumer moves events from Kafka to ClickHouse, each of them exactly once.
//
// Every partition that this member of the consumer group owns has a worker. The worker cuts the
// partition's log into blocks, announces each block with the commit of the one before, and inserts
// it; ARCHITECTURE.md tells why nothing is lost and nothing counted twice, whatever breaks.
package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

// pollRecords is how many records one poll takes at the most: rebalances wait for a poll to be
// handed out, which is quick.
const pollRecords = 20_000

// Consumer is a member of the consumer group. It is a service.Service.
type Consumer struct {
	*service.Loop
	cfg        Config
	kafka      kafka.Config
	clickhouse ch.Options
	log        *slog.Logger
	metrics    *metrics
	streams    map[string]stream

	mu      sync.Mutex
	workers map[assignment]*worker
	ends    map[assignment]int64 // the log's end, as last seen
	refused map[assignment]struct{}
}

type assignment struct {
	topic     string
	partition int32
}

// New returns a consumer of events and link views. It connects when it is started.
func New(c Config, k kafka.Config, s clickhouse.Config, log *slog.Logger, r prometheus.Registerer) (*Consumer, error) {
	options, err := s.BlockOptions()
	if err != nil {
		return nil, err
	}
	consumer := &Consumer{
		cfg: c, kafka: k, clickhouse: options, log: log,
		streams: map[string]stream{},
		workers: map[assignment]*worker{},
		ends:    map[assignment]int64{},
		refused: map[assignment]struct{}{},
	}
	for _, s := range []stream{eventStream(), linkViewStream()} {
		consumer.streams[s.topic] = s
	}
	consumer.metrics = newMetrics(r, consumer.status)
	consumer.Loop = service.NewLoop("consumer", consumer.run)
	return consumer, nil
}

// run joins the group and hands out what it polls, until ctx ends.
func (c *Consumer) run(ctx context.Context, ready func()) error {
	topics := make([]string, 0, len(c.streams))
	for topic := range c.streams {
		topics = append(topics, topic)
	}
	var cl *kgo.Client
	created := make(chan struct{}) // closed when cl is set: the group is joined before NewClient returns
	opts := append(c.kafka.Options(c.log),
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(topics...),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(c.cfg.SessionTimeout),
		kgo.HeartbeatInterval(min(3*time.Second, c.cfg.SessionTimeout/3)),
		kgo.RebalanceTimeout(c.cfg.RebalanceTimeout),
		kgo.DisableAutoCommit(), // an ordinary commit would erase the announcement of a block
		kgo.BlockRebalanceOnPoll(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), // an offset outside the log is an alarm
		kgo.FetchMaxBytes(16<<20),
		kgo.FetchMaxPartitionBytes(4<<20),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context, o map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			<-created
			return c.assign(ctx, cl, o)
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { c.release(p, true) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { c.release(p, false) }),
	)
	var err error
	if cl, err = kgo.NewClient(opts...); err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	close(created)
	for _, topic := range topics {
		if _, _, err := kafka.Topic(ctx, cl, topic); err != nil {
			cl.Close()
			return err
		}
	}
	ready()
	c.poll(ctx, cl)
	// Leaving the group gives the partitions back, which stops the workers with grace.
	cl.CloseAllowingRebalance()
	c.releaseAll()
	return nil
}

// poll hands records to the workers until ctx ends. While it does so no assignment can change, so
// a record never meets the worker of another assignment.
func (c *Consumer) poll(ctx context.Context, cl *kgo.Client) {
	for {
		fetches := cl.PollRecords(ctx, pollRecords)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			if errors.Is(err, kerr.OffsetOutOfRange) {
				c.refuse(assignment{topic, partition}, err)
				return
			}
			c.log.Warn("cannot read from Kafka, will try again", "topic", topic, "partition", partition, "error", err)
		})
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			a := assignment{p.Topic, p.Partition}
			c.mu.Lock()
			w := c.workers[a]
			c.ends[a] = p.HighWatermark
			c.mu.Unlock()
			if w != nil && len(p.Records) > 0 && w.queue.push(p.Records) {
				cl.PauseFetchPartitions(map[string][]int32{a.topic: {a.partition}})
			}
		})
		cl.AllowRebalance()
	}
}
