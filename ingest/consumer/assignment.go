package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// assign takes over each partition that was assigned, and returns where fetching begins: before the
// committed offset, so that the window of repeats can be filled from the log. Partitions that are
// not to be stored are left out and stand still. Nothing is stored here: takeOver starts the
// batchers in the background. They outlive ctx, which is that of the call, and end with batching.
func (c *Consumer) assign(ctx, batching context.Context, cl *kgo.Client, assigned map[string]map[int32]kgo.Offset) (
	map[string]map[int32]kgo.Offset, error,
) {
	from := make(map[string]map[int32]kgo.Offset, len(assigned))
	for topic, partitions := range assigned {
		numbers := make([]int32, 0, len(partitions))
		for number := range partitions {
			numbers = append(numbers, number)
		}
		positions, halted, err := readPositions(ctx, cl, c.cfg.Group, topic, numbers, c.ledger)
		if err != nil {
			c.log.Warn("cannot take over partitions, will try again", "topic", topic, "error", err)
			return nil, fmt.Errorf("take over partitions of %s: %w", topic, err)
		}
		// Again, since the record may have changed, and the topic may have been recreated.
		var successor bool
		for _, p := range positions {
			if successor, err = c.claim(ctx, p.topicID, topic); err != nil {
				c.log.Warn("cannot take over partitions, will try again", "topic", topic, "error", err)
				if config.IsInvalid(err) {
					c.leave(err)
				}
				return nil, fmt.Errorf("take over partitions of %s: %w", topic, err)
			}
			break // all have the same topic id
		}
		for number, why := range halted {
			c.halt(assignment{topic, number}, nil, why)
		}
		from[topic] = make(map[int32]kgo.Offset, len(positions))
		taken := make(map[*partition]position, len(positions))
		for number, p := range positions {
			p.successor = successor
			taken[c.newPartition(cl, assignment{topic, number}, p)] = p
			from[topic][number] = kgo.NewOffset().At(p.fetch)
		}
		c.takeOver(batching, cl, taken)
	}
	return from, nil
}

// claim records the consumer's group as the one that stores the topic with the id in its copy of
// the events, if none is recorded, and reports whether an earlier topic had the same name. If
// another group is recorded, the error is one of settings (config.IsInvalid) with a remedy; every
// other error may be temporary.
func (c *Consumer) claim(ctx context.Context, topicID uuid.UUID, topic string) (successor bool, err error) {
	recorded, err := store.New(c.postgres.Unscoped()).ClaimTopic(ctx, store.ClaimTopicParams{
		TopicID: topicID, Copy: c.shards.Copy(), Topic: topic, ConsumerGroup: c.cfg.Group,
	})
	if err != nil {
		return false, fmt.Errorf("read which consumer group stores %s: %w", topic, err)
	}
	if owner := recorded.ConsumerGroup; owner != c.cfg.Group {
		return false, config.Invalid("--consumer-group",
			fmt.Sprintf("is %s, but the group %s stores the records of %s: two groups would store every event twice",
				c.cfg.Group, owner, topic),
			"use --consumer-group "+owner+`, or change the group as "One consumer group" in docs/operations.md says`)
	}
	return recorded.Successor, nil
}

// newPartition returns a partition that was assigned, which no batcher reads yet. One that is there
// already is from an assignment that was interrupted before it was complete, and gives way.
func (c *Consumer) newPartition(cl *kgo.Client, a assignment, at position) *partition {
	named := map[string][]int32{a.topic: {a.partition}}
	c.giveBack(named, false)
	s := c.streams[a.topic]
	// The client keeps a partition paused from one assignment to the next.
	resume := func() { cl.ResumeFetchPartitions(named) }
	resume()
	p := &partition{
		assignment: a,
		place:      stream.Place{TopicID: at.topicID, Partition: a.partition},
		log:        c.log.With("topic", a.topic, "partition", a.partition),
		metrics:    c.metrics,
		buffer:     c.buffer,
		queue:      newQueue(c.cfg.QueueBytes, c.buffer, func() { cl.PauseFetchPartitions(named) }, resume),
		settled:    make(chan struct{}),
	}
	p.fillState = fillState{
		window: stream.NewWindow(stream.RepeatWindow), decoder: s.Decoder(), hash: kafka.NewHash(),
		started: at.next, fullWindowFrom: at.fullWindowFrom, read: at.fetch, covered: at.next,
		partitions: at.partitions, successor: at.successor,
	}
	p.storeState = storeState{next: at.next, epoch: at.epoch}
	p.halt = func(why error) {
		p.queue.halt()
		c.halt(a, p, why)
	}
	p.progress.Store(at.next)
	c.mu.Lock()
	c.partitions[a] = p
	delete(c.halted, a)
	c.fitMemory()
	c.mu.Unlock()
	p.log.Info("took over partition", "next_offset", at.next, "announced", !at.insertsUntil.IsZero(),
		"reading_offset", at.fetch)
	return p
}

// fitMemory makes the process's limit of memory follow the number of partitions. The caller holds
// the lock.
func (c *Consumer) fitMemory() {
	n := len(c.partitions)
	followMemory(c.cfg, int(c.owned.Swap(int32(n))), n)
}

// giveBack ends the work on partitions. With grace, what is announced of them is stored first,
// within the release timeout: Kafka waits for that if they are revoked, not if they are lost. What
// is under way after that, the next owner finds out.
func (c *Consumer) giveBack(partitions map[string][]int32, grace bool) {
	var leaving []*partition
	c.mu.Lock()
	for topic, numbers := range partitions {
		for _, number := range numbers {
			a := assignment{topic, number}
			delete(c.halted, a)
			delete(c.ends, a)
			if p := c.partitions[a]; p != nil {
				leaving = append(leaving, p)
				delete(c.partitions, a)
			}
		}
	}
	c.fitMemory()
	c.mu.Unlock()
	settling := map[*batcher][]*partition{}
	for _, p := range leaving {
		p.stopping.Store(true)
		if b := p.batcher.Load(); b != nil && grace {
			settling[b] = append(settling[b], p)
		} else {
			p.givenBack.Store(true)
		}
		p.queue.close()
	}
	limit := time.NewTimer(c.cfg.ReleaseTimeout)
	defer limit.Stop()
	for b, partitions := range settling {
		b.settleWithin(limit.C, partitions)
	}
	for _, p := range leaving {
		p.givenBack.Store(true)
		if b := p.batcher.Load(); b != nil {
			b.leave(p)
		}
	}
}

// giveBackAll ends the work on every partition that is left.
func (c *Consumer) giveBackAll() {
	all := map[string][]int32{}
	c.mu.Lock()
	for a := range c.partitions {
		all[a.topic] = append(all[a.topic], a.partition)
	}
	c.mu.Unlock()
	c.giveBack(all, false)
}

// halt makes a partition stand still, loudly. p is the assignment of it that asks for that, and is
// ignored if it was given back meanwhile; nil: it was not taken over at all.
func (c *Consumer) halt(a assignment, p *partition, why error) {
	c.mu.Lock()
	if p != nil && c.partitions[a] != p {
		c.mu.Unlock()
		return
	}
	_, known := c.halted[a]
	c.halted[a] = why
	c.mu.Unlock()
	if !known {
		c.log.Error("partition stands still", "topic", a.topic, "partition", a.partition, "reason",
			haltReason(why), "error", why)
	}
}

// Check returns nil while this consumer is a member of its group, Kafka answers and none of its
// partitions stands still. It is for readiness, and safe for concurrent use.
func (c *Consumer) Check(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.joined {
		return errors.New("not a member of the consumer group: see the log")
	}
	if c.away != nil {
		return c.away
	}
	var errs []error
	for a, why := range c.halted {
		errs = append(errs, fmt.Errorf("%s partition %d stands still: %w", a.topic, a.partition, why))
	}
	for a, p := range c.partitions {
		if p.blocked.Load() {
			errs = append(errs, fmt.Errorf(
				"ClickHouse refuses what is asked for %s partition %d, or its shard does not answer: see the log", a.topic,
				a.partition))
		}
	}
	return errors.Join(errs...)
}

// status says what the consumer works on.
func (c *Consumer) status() status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := status{partitions: len(c.partitions), blocked: len(c.halted), halted: map[string]int{},
		joined: c.joined && c.away == nil}
	for _, why := range c.halted {
		s.halted[haltReason(why)]++
	}
	for a, p := range c.partitions {
		if p.blocked.Load() {
			s.blocked++
		}
		s.lag += max(0, c.ends[a]-p.progress.Load())
	}
	for _, b := range c.batchers {
		s.age = max(s.age, b.waiting())
	}
	return s
}
