package consumer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

const (
	// pollRecords is how many records one poll takes at the most: rebalances wait for a poll to be
	// handed out, which is quick.
	pollRecords = 20_000
	// rejoinPause keeps a consumer that cannot read from joining its group again and again.
	rejoinPause = time.Second
	// endsInterval is the time between two looks at where the log ends.
	endsInterval = 2 * time.Second
	// endsTimeout bounds one look, and awayAfter is how long Kafka has not answered one when it is
	// away.
	endsTimeout = 5 * time.Second
	awayAfter   = 10 * time.Second
)

// run is a member of the group until ctx ends: of one membership after the other, should one end
// because what it reads changed under it. While an engine does not answer it waits, also at the
// start: a supervisor that starts it again and again would pause longer than the outage lasts.
func (c *Consumer) run(ctx context.Context, ready func()) error {
	started := false
	for {
		err := c.member(ctx, func() {
			started = true
			ready()
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case config.IsInvalid(err), !started && errors.Is(err, kafka.ErrNoTopic):
			return err
		case err != nil:
			c.log.Warn("left the consumer group, or could not join it; will try again", "error", err)
		}
		pause := time.NewTimer(rejoinPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
	}
}

// member joins the group and hands out what it polls, until ctx ends or the positions have to be
// read again, which only joining again does.
func (c *Consumer) member(ctx context.Context, ready func()) error {
	var cl *kgo.Client
	created := make(chan struct{}) // closed once cl is set: NewClient joins before it returns
	topics := slices.Sorted(maps.Keys(c.streams))
	if err := c.claimTopics(ctx, topics); err != nil {
		return err
	}
	member, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	c.leave = leave
	// What is announced is stored while the partitions are given back.
	batching, stopBatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBatching()
	opts := append(c.kafka.Options(c.log, c.hooks...),
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(topics...),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(c.cfg.SessionTimeout),
		// The next heartbeat of the others is when they learn that one has left.
		kgo.HeartbeatInterval(min(time.Second, c.cfg.SessionTimeout/3)),
		// A heartbeat whose broker is silent is sent again, to another one, before the session ends.
		kgo.RequestTimeoutOverhead(min(4*time.Second, c.cfg.SessionTimeout/2)),
		// After a leader has moved, learn the new one soon: fetches wait for it.
		kgo.MetadataMinAge(250*time.Millisecond),
		kgo.RebalanceTimeout(c.cfg.RebalanceTimeout),
		kgo.DisableAutoCommit(), // an ordinary commit would erase the announcement of a block
		kgo.BlockRebalanceOnPoll(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),      // an offset outside the log is an alarm
		kgo.ProducerBatchMaxBytes(kafka.DeadLetterBytes), // a record of any size can become a dead letter
		// What one answer of a broker brings may come on top of a full buffer, several times as large as
		// it was on its way.
		kgo.FetchMaxBytes(2<<20),
		kgo.FetchMaxPartitionBytes(512<<10),
		// A partition that was paused, since its queue was full, is asked for again when the request that
		// is waiting for the others is answered.
		kgo.FetchMaxWait(50*time.Millisecond),
		kgo.WithPools(&c.pool),
		kgo.RecordPartitioner(kafka.Placed(topics...)),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context,
			o map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			<-created
			return c.assign(ctx, batching, cl, o)
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { c.giveBack(p, true) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { c.giveBack(p, false) }),
	)
	var err error
	if cl, err = kgo.NewClient(opts...); err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	c.mu.Lock()
	c.batchers = map[batcherKey]*batcher{}
	c.mu.Unlock()
	close(created)
	c.setJoined(true)
	defer c.setJoined(false)
	ready()
	watching, stopWatching := context.WithCancel(member)
	var watch sync.WaitGroup
	watch.Go(func() { c.watchEnds(watching, cl, topics) })
	c.poll(member, cl)
	stopWatching()
	watch.Wait()
	// Leaving the group gives the partitions back in order.
	cl.CloseAllowingRebalance()
	c.giveBackAll()
	stopBatching()
	c.taking.Wait()
	c.storing.Wait()
	if ctx.Err() == nil {
		return context.Cause(member) // nil: the positions are to be read again
	}
	return nil
}

func (c *Consumer) setJoined(joined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined, c.away = joined, nil
}

// setAway notes why Kafka does not answer, nil once it does.
func (c *Consumer) setAway(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = why
}

// CheckKafka returns why Kafka does not answer, or nil. It is for readiness, and safe for
// concurrent use.
func (c *Consumer) CheckKafka(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away
}

// claimTopics returns nil once the group may store the topics and ClickHouse lets it write. It asks
// before the group is joined, so that a consumer that could store nothing takes no partitions from
// another.
func (c *Consumer) claimTopics(ctx context.Context, topics []string) error {
	cl, err := kgo.NewClient(c.kafka.Options(c.log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer cl.Close()
	for _, topic := range topics {
		id, _, err := kafka.Topic(ctx, cl, topic)
		if err != nil {
			return err
		}
		if _, err := c.claim(ctx, id, topic); err != nil {
			return err
		}
	}
	return c.awaitClickHouse(ctx)
}

// poll hands records to the partitions until ctx ends, or until the positions have to be read
// again. While it does so no assignment can change, so a record never meets the partition of
// another assignment.
func (c *Consumer) poll(ctx context.Context, cl *kgo.Client) {
	for {
		fetches := cl.PollRecords(ctx, pollRecords)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		moved := false
		fetches.EachError(func(topic string, partition int32, err error) {
			c.log.Warn("cannot read from Kafka, will try again", "topic", topic, "partition", partition, "error", err)
			moved = moved || isMoved(err)
		})
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			a := assignment{p.Topic, p.Partition}
			c.mu.Lock()
			owned := c.partitions[a]
			c.ends[a] = p.HighWatermark
			c.mu.Unlock()
			if owned != nil && len(p.Records) > 0 {
				owned.end.Store(p.HighWatermark)
				owned.queue.push(p.Records)
			}
		})
		cl.AllowRebalance()
		if moved {
			return
		}
	}
}

// watchEnds notes where the log ends until ctx does, gives back memory that was not needed in
// between, and ends the membership of a consumer that cannot write. Polled records show it as well,
// but not of a partition that is paused, which is the one whose lag matters.
func (c *Consumer) watchEnds(ctx context.Context, cl *kgo.Client, topics []string) {
	ticker := time.NewTicker(endsInterval)
	defer ticker.Stop()
	var forbidden time.Time // since when the probe is
	answered := time.Now()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		for _, s := range c.streams {
			s.Tables.Trim()
		}
		if err := c.cannotWrite(ctx, &forbidden); err != nil {
			c.leave(err)
			return
		}
		looking, cancel := context.WithTimeout(ctx, endsTimeout)
		ends, err := kadm.NewClient(cl).ListEndOffsets(looking, topics...)
		cancel()
		if err != nil {
			if ctx.Err() == nil && time.Since(answered) > awayAfter {
				c.setAway(fmt.Errorf("waiting for Kafka, which does not answer: %w", err))
			}
			continue // the poll loop logs it
		}
		answered = time.Now()
		c.setAway(nil)
		c.mu.Lock()
		ends.Each(func(o kadm.ListedOffset) {
			a := assignment{o.Topic, o.Partition}
			if _, ours := c.partitions[a]; ours && o.Err == nil {
				c.ends[a] = max(c.ends[a], o.Offset)
			}
		})
		c.mu.Unlock()
	}
}

// isMoved reports whether an error says that the log is not what the positions were read for: the
// topic was recreated under its name, or the place to read from has been deleted. Positions that
// are read again either fit, or the partition stands still with an alarm.
func isMoved(err error) bool {
	if _, lost := errors.AsType[*kgo.ErrDataLoss](err); lost {
		return true
	}
	return errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.InconsistentTopicID) ||
		errors.Is(err, kerr.OffsetOutOfRange)
}

const (
	// leaveAfter is how long this consumer may be unable to write before it leaves the group, so that
	// one that can write can have its partitions. It joins again when the probe succeeds: an outage of
	// the server is one leaving and one joining of each consumer.
	leaveAfter    = time.Minute
	probeTimeout  = 5 * time.Second
	maxProbePause = 5 * time.Second // between two probes
)

// probe returns nil if a shard of ClickHouse lets this consumer read and write the tables. It
// writes nothing. Partitions of shards that do not wait, which is no reason to leave those of
// others.
func (c *Consumer) probe(ctx context.Context) error {
	var errs []error
	for _, dial := range c.shards.Dialers() {
		err := c.probeShard(ctx, dial)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *Consumer) probeShard(ctx context.Context, dial func(context.Context) (*ch.Client, error)) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	asks := &stream.Connection{Dial: dial, Log: c.log}
	defer asks.Close()
	for _, s := range c.streams {
		if err := s.Probe(ctx, asks); err != nil {
			return err
		}
	}
	return nil
}

// cannotWrite returns why this consumer has not been able to write for leaveAfter, or nil. It
// probes only after an error, and is called by one goroutine, again and again. What ClickHouse
// refuses for the data of a block, or for the time being, is no reason to leave: the next consumer
// would be refused the same.
func (c *Consumer) cannotWrite(ctx context.Context, forbidden *time.Time) error {
	silent := c.health.SilentFor(c.leaveAfter)
	if !silent && !c.health.Refused() && forbidden.IsZero() {
		return nil
	}
	err := c.probe(ctx)
	_, answered := clickhouse.IsException(err)
	switch {
	case err == nil, ctx.Err() != nil, answered && !clickhouse.IsForbidden(err):
		*forbidden = time.Time{}
		return nil //nolint:nilerr // the error is no reason to leave
	case answered && forbidden.IsZero():
		*forbidden = time.Now()
		c.log.Error("ClickHouse refuses writes of this consumer; it leaves the consumer group if that persists",
			"leaves_in", c.leaveAfter, "error", err)
		return nil
	case answered && time.Since(*forbidden) < c.leaveAfter, !answered && !silent:
		return nil
	}
	return fmt.Errorf("nothing can be stored since %s: %w", c.leaveAfter, err)
}

// awaitClickHouse returns nil once the probe succeeds.
func (c *Consumer) awaitClickHouse(ctx context.Context) error {
	pause := 100 * time.Millisecond
	for {
		err := c.probe(ctx)
		if err == nil {
			c.health.Succeeded()
			return nil
		}
		if ctx.Err() == nil {
			c.log.Warn("not joining the consumer group until ClickHouse accepts writes of this consumer",
				"retry_in", pause, "error", err)
		}
		if err := service.Sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, maxProbePause)
	}
}
