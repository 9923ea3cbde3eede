package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/event"
)

// remakeTopics makes the topics anew, empty, with so many partitions.
func (e *Engines) remakeTopics(ctx context.Context, b *Bench, partitions int32) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(e.Brokers...))
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	if err := deleteTopics(ctx, admin, event.Topic, event.LinkViewTopic); err != nil {
		return err
	}
	return b.Once(ctx, e, "migrate", fmt.Sprintf("--kafka-partitions=%d", partitions))
}

// deleteTopics deletes topics, those that there are, and waits until they are gone.
func deleteTopics(ctx context.Context, admin *kadm.Client, topics ...string) error {
	if len(topics) == 0 {
		return nil
	}
	gone, err := admin.DeleteTopics(ctx, topics...)
	if err != nil {
		return fmt.Errorf("delete topics: %w", err)
	}
	for _, t := range gone {
		if t.Err != nil && !errors.Is(t.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("delete topic %s: %w", t.Topic, t.Err)
		}
	}
	// Apache Kafka deletes by and by.
	if err := await(ctx, startPatience, func() (bool, error) {
		there, err := admin.ListTopics(ctx, topics...)
		return err == nil && !slices.ContainsFunc(topics, there.Has), err
	}); err != nil {
		return fmt.Errorf("wait until the topics are deleted: %w", err)
	}
	return nil
}

// backlog is the events of one busy day: what waits in Kafka is of few months, usually of one.
func backlog(seed uint64, n int64) traffic.Config {
	c := traffic.Year(seed, n)
	c.Begin, c.Span = c.Begin.AddDate(0, 0, 9), 24*time.Hour
	return c
}

// fill writes events to Kafka as fast as it takes them, keyed and compressed as the collector does.
func (e *Engines) fill(ctx context.Context, seed uint64, n int64) error {
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(e.Brokers...),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerBatchCompression(kgo.SnappyCompression())}, e.Login...)...)
	if err != nil {
		return fmt.Errorf("make Kafka producer: %w", err)
	}
	defer client.Close()
	events := traffic.New(backlog(seed, n))
	var failed struct {
		sync.Mutex
		err error
	}
	for range n {
		var one event.Event
		events.Next(&one)
		key := one.AccessLinkID
		client.Produce(ctx, &kgo.Record{Topic: event.Topic, Key: key[:], Value: one.Append(nil)}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Lock()
				failed.err = err
				failed.Unlock()
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return fmt.Errorf("fill Kafka: %w", err)
	}
	failed.Lock()
	defer failed.Unlock()
	if failed.err != nil {
		return fmt.Errorf("fill Kafka: %w", failed.err)
	}
	return nil
}
