package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lodestone/ingest/stream"

	"github.com/ClickHouse/ch-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/placement"
)

// assign starts a worker for each partition that was assigned, and returns where fetching begins:
// before the committed offset, so that the worker can fill its window of repeats from the log.
// Partitions that are not to be stored are left out and stand still.
func (c *Consumer) assign(ctx context.Context, cl *kgo.Client, assigned map[string]map[int32]kgo.Offset) (
	map[string]map[int32]kgo.Offset, error,
) {
	from := make(map[string]map[int32]kgo.Offset, len(assigned))
	for topic, partitions := range assigned {
		numbers := make([]int32, 0, len(partitions))
		for number := range partitions {
			numbers = append(numbers, number)
		}
		positions, out, err := readPositions(ctx, cl, c.cfg.Group, topic, numbers, c.ledger)
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
		for number, why := range out {
			c.halt(assignment{topic, number}, nil, why)
		}
		from[topic] = make(map[int32]kgo.Offset, len(positions))
		for number, p := range positions {
			p.successor = successor
			c.startWorker(cl, assignment{topic, number}, p)
			from[topic][number] = kgo.NewOffset().At(p.fetch)
		}
	}
	return from, nil
}

// startWorker starts the worker of a partition. A worker that is there already is from an
// assignment that was interrupted before it was complete, and gives way.
func (c *Consumer) startWorker(cl *kgo.Client, a assignment, p position) {
	c.stopWorkers(map[string][]int32{a.topic: {a.partition}}, false)
	s := c.streams[a.topic]
	ctx, cancel := context.WithCancel(context.Background()) // ends with the assignment, in release
	log := c.log.With("topic", a.topic, "partition", a.partition)
	// The client keeps a partition paused from one assignment to the next.
	resume := func() { cl.ResumeFetchPartitions(map[string][]int32{a.topic: {a.partition}}) }
	resume()
	w := &worker{
		stream:  s,
		at:      stream.Place{TopicID: p.topicID, Partition: a.partition},
		cl:      cl,
		commits: c.commits,
		cfg:     c.cfg,
		log:     log,
		metrics: c.metrics,
		store: &stream.Store{
			Connection: stream.Connection{Log: log}, // shared ones, once the shard is known
			Stream:     s, TopicID: p.topicID, Partition: a.partition,
		},
		buffer: c.buffer,
		slots:  c.slots,
		looks:  c.looks,
		find:   c.routeTo,

		several: c.shards.Size() > 1,
		builder: &blockBuilder{
			at:      stream.Place{TopicID: p.topicID, Partition: a.partition},
			cfg:     c.cfg,
			log:     log,
			metrics: c.metrics,
			buffer:  c.buffer,
			slots:   c.slots,
			pace:    &c.pace,
			queue: newQueue(c.cfg.QueueBytes, c.buffer,
				func() { cl.PauseFetchPartitions(map[string][]int32{a.topic: {a.partition}}) }, resume),
			window:  stream.NewWindow(stream.RepeatWindow),
			decoder: s.Decoder(),
			started: p.next,
			read:    p.fetch,
			intent:  p.intent,
			certain: p.certain,

			partitions: p.partitions,
			successor:  p.successor,
			hash:       kafka.NewHash(),

			slotWanted: make(chan struct{}, 1),
		},
		next:  p.next,
		epoch: p.epoch,
		pool:  c.postgres,
		trace: c.trace,

		stopping: make(chan struct{}),
		cancel:   cancel,
		done:     make(chan struct{}),
	}
	w.builder.blocked = &w.blocked
	w.builder.halt, w.halt = w.haltPartition(c), w.haltPartition(c)
	w.progress.Store(p.next)
	c.mu.Lock()
	c.workers[a] = w
	delete(c.halted, a)
	c.count()
	c.mu.Unlock()
	log.Info("took over partition", "next_offset", p.next, "announced_offset", p.intent, "reading_offset", p.fetch)
	go w.run(ctx, p)
}

// count makes what depends on the number of partitions follow it. The caller holds the lock.
func (c *Consumer) count() {
	n := len(c.workers)
	followMemory(c.cfg, int(c.owned.Swap(int32(n))), n)
}

// release stops the workers of the partitions and returns when they have ended. With grace they
// finish the block that they announced, for as long as an insert may take; without, the partition
// may have another owner already, so they end at once.
func (c *Consumer) stopWorkers(partitions map[string][]int32, grace bool) {
	var stopping []*worker
	c.mu.Lock()
	for topic, numbers := range partitions {
		for _, number := range numbers {
			a := assignment{topic, number}
			delete(c.halted, a)
			delete(c.ends, a)
			if w := c.workers[a]; w != nil {
				stopping = append(stopping, w)
				delete(c.workers, a)
			}
		}
	}
	c.count()
	c.mu.Unlock()
	for _, w := range stopping {
		w.stop(grace)
	}
	limit := time.NewTimer(c.cfg.ReleaseTimeout)
	defer limit.Stop()
	cancelAll := func() {
		for _, w := range stopping {
			w.cancel()
		}
	}
	for _, w := range stopping {
		select {
		case <-w.done:
		case <-limit.C: // all at once: ending a statement that hangs takes a second
			cancelAll()
			<-w.done
		}
	}
	cancelAll()
}

// releaseAll stops every worker that is left.
func (c *Consumer) stopAllWorkers() {
	all := map[string][]int32{}
	c.mu.Lock()
	for a := range c.workers {
		all[a.topic] = append(all[a.topic], a.partition)
	}
	c.mu.Unlock()
	c.stopWorkers(all, false)
}

// halt makes a partition stand still, loudly, unless the worker that asks for it was stopped
// meanwhile. nil: none asks.
func (c *Consumer) halt(a assignment, by *worker, why error) {
	c.mu.Lock()
	if by != nil && c.workers[a] != by {
		c.mu.Unlock()
		return
	}
	_, known := c.halted[a]
	c.halted[a] = why
	c.mu.Unlock()
	if !known {
		c.log.Error("partition stands still", "topic", a.topic, "partition", a.partition, "reason", haltReason(why), "error", why)
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
	for a, w := range c.workers {
		if w.blocked.Load() {
			errs = append(errs, fmt.Errorf("ClickHouse refuses what is asked for %s partition %d, or its shard does not answer: see the log", a.topic, a.partition))
		}
	}
	return errors.Join(errs...)
}

// status says what the consumer works on.
func (c *Consumer) status() status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := status{partitions: len(c.workers), blocked: len(c.halted), halted: map[string]int{}, joined: c.joined && c.away == nil}
	for _, why := range c.halted {
		s.halted[haltReason(why)]++
	}
	for a, w := range c.workers {
		if w.blocked.Load() {
			s.blocked++
		}
		s.age = max(s.age, w.waiting())
		s.lag += max(0, c.ends[a]-w.progress.Load())
	}
	return s
}

// haltPartition returns what makes the worker's partition stand still: it is not fetched any more,
// and counts as blocked until it is released.
func (w *worker) haltPartition(c *Consumer) func(error) {
	return func(why error) {
		w.builder.queue.halt()
		c.halt(assignment{w.stream.Topic, w.at.Partition}, w, why)
	}
}

// route leads to the shard of ClickHouse that has the rows of a partition. Every statement about
// the partition takes it, but for looks for earlier events of its keys, which ask other shards as
// well.
type route struct {
	shard  uint16
	shared stream.Shared // the connections of all its partitions, except for blocks with a slot
	dial   dialer
	before []stream.Shared // of other shards that may have earlier events of the partition's keys
}

type dialer = func(context.Context) (*ch.Client, error)

// routeTo returns the route of a partition, which is placed on a shard if it has none yet.
func (c *Consumer) routeTo(ctx context.Context, of stream.Stream, at stream.Place, partitions int) (route, error) {
	p := placement.Partition{Topic: of.Topic, TopicID: at.TopicID, Number: at.Partition, Table: of.Table}
	shard, err := c.placements.Shard(ctx, p)
	if err != nil {
		return route{}, err
	}
	before, err := c.placements.Before(ctx, p, partitions)
	if err != nil {
		return route{}, err
	}
	r := c.routeToShard(shard)
	for _, other := range before {
		r.before = append(r.before, c.routeToShard(other).shared)
	}
	return r, nil
}

// routeToShard returns the route to a shard.
func (c *Consumer) routeToShard(shard uint16) route {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.routes[shard]
	if !known {
		r = route{shard: shard, dial: c.shards.Dialer(shard)}
		r.shared = stream.NewShared(sharedConnections, stream.Connection{Dial: r.dial, Log: c.log, Health: c.health})
		c.routes[shard] = r
	}
	return r
}

// closeRoutes closes the shared connections. No worker may run.
func (c *Consumer) closeRoutes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.routes {
		r.shared.Close()
	}
}
