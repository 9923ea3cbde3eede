package consumer

import (
	"context"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
)

// batcherKey is the common topic and shard of a batcher's partitions.
type batcherKey struct {
	topicID uuid.UUID
	shard   uint16
}

// batcherOf returns the batcher of a partition, which is placed on a shard if it has none yet. A
// new batcher ends with ctx.
func (c *Consumer) batcherOf(ctx context.Context, cl *kgo.Client, p *partition, at position) (*batcher, error) {
	place := stream.Partition{Topic: p.topic, TopicID: at.topicID, Number: p.partition, Table: c.streams[p.topic].Table}
	shard, err := c.placements.Shard(ctx, place)
	if err != nil {
		return nil, err
	}
	key := batcherKey{at.topicID, shard}
	c.mu.Lock()
	b := c.batchers[key]
	c.mu.Unlock()
	if b == nil {
		if b, err = c.startBatcher(ctx, cl, p.topic, key); err != nil {
			return nil, err
		}
	}
	p.batcher.Store(b)
	return b, nil
}

// startBatcher returns the batcher of a key, which it starts unless another takeover did meanwhile.
// The batcher ends with ctx.
func (c *Consumer) startBatcher(ctx context.Context, cl *kgo.Client, topic string, key batcherKey) (*batcher, error) {
	others, err := c.placements.Before(ctx, topic, key.topicID, key.shard)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.batchers[key]
	if !known {
		s := c.streams[topic]
		b = newBatcher(c, cl, s, key, c.tableOf(s, key.topicID, key.shard, others...))
		c.batchers[key] = b
		c.storing.Go(func() { b.run(ctx) })
	}
	return b, nil
}

// tableOf returns a table of a shard, over a connection of its own. Others are the shards that may
// have earlier events.
func (c *Consumer) tableOf(s stream.Stream, topicID uuid.UUID, shard uint16, others ...uint16) *stream.Store {
	connection := func(shard uint16) stream.Connection {
		return stream.Connection{Dial: c.shards.Dialer(shard), Log: c.log, Health: c.health}
	}
	t := &stream.Store{Connection: connection(shard), Stream: s, TopicID: topicID}
	for _, other := range others {
		o := connection(other)
		t.Others = append(t.Others, &o)
	}
	return t
}
