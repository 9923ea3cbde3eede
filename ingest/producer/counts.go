package producer

import (
	"context"
	"time"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

const (
	countsEvery = 3 * time.Second // between two looks
	countsTry   = 2 * time.Second // one look, which a start waits for
)

// followCounts asks over how many partitions keys are distributed, until ctx ends: a topic that is
// created again may have another number. While the number is not known, as Postgres is away when
// the producer starts, it is that of Kafka's partitions.
func (p *Producer) followCounts(ctx context.Context) {
	for {
		p.readCounts(ctx)
		if service.Sleep(ctx, countsEvery) != nil {
			return
		}
	}
}

func (p *Producer) readCounts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, countsTry)
	defer cancel()
	for _, topic := range p.deps.Topics {
		if topic == event.DeadLetterTopic { // which is not distributed by key
			continue
		}
		id, present, err := kafka.Topic(ctx, p.client, topic)
		if err != nil {
			continue // the producer reports that Kafka is away, or lacks the topic
		}
		if before, known := p.ids[topic]; known && before != id {
			p.forget(topic) // also if nothing is written: else the first record would go by the old topic's partitions
		}
		p.ids[topic] = id
		count, err := p.deps.Partitions.Partitions(ctx, id, topic, present)
		if err != nil {
			if ctx.Err() == nil {
				p.deps.Log.Debug("cannot read the number of partitions, trying again", "topic", topic, "error", err)
			}
			continue
		}
		if p.counts.Set(topic, count) {
			p.deps.Log.Info("keys are distributed over partitions", "topic", topic, "partitions", count)
		}
	}
}

// forget makes the client drop its state of a topic. Once a topic has been deleted and created
// again under its name, the client refuses it for good, because it has another id. The records that
// were waiting have failed: their senders were asked to repeat them.
func (p *Producer) forget(topic string) {
	if !p.forgetting.CompareAndSwap(false, true) {
		return
	}
	// Not here: the client calls this in a callback that must not wait for the client.
	p.background.Go(func() {
		defer p.forgetting.Store(false)
		p.deps.Log.Warn("Kafka's topic has another id than before: it was deleted and created again", "topic", topic)
		p.counts.Set(topic, 0) // of the old one
		p.client.PurgeTopicsFromClient(topic)
	})
}
