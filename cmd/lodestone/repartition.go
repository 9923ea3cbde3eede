package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	// closeSettle is how long brokers may need to hear of a setting.
	closeSettle = 5 * time.Second
	// openSettle is how long a new topic stays closed: collectors look at topics every three seconds,
	// and no record may go by the number of the old one's partitions.
	openSettle = 12 * time.Second

	drainEvery  = time.Second
	reopenLimit = 30 * time.Second // after an interruption
)

type repartitionCommand struct {
	Process    processConfig   `embed:""`
	Kafka      kafka.Config    `embed:""`
	Postgres   postgres.Config `embed:""`
	Partitions int32           `arg:"" help:"Number of partitions of each new topic, from 1 to 1024."`
}

func (c *repartitionCommand) check() error {
	return validate(c.Kafka, c.Postgres, kafka.TopicConfig{Partitions: c.Partitions, Replication: -1})
}

// Run replaces the topics, while no process migrates.
func (c *repartitionCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	log := c.Process.logger()
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	// a topic that was just made or deleted is asked for
	options := append(c.Kafka.Options(log), kgo.MetadataMinAge(drainEvery/10))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	r := repartition{client, options, pool, kafka.Ledger{Pool: pool}, c.Partitions, log}
	return pool.WithMigrationLock(ctx, r.run)
}

// repartition replaces topics by ones with another number of partitions. Each step may be repeated,
// so an interrupted one goes on where it was.
type repartition struct {
	client     *kgo.Client
	options    []kgo.Opt
	pool       *postgres.Pool
	ledger     kafka.Ledger
	partitions int32
	log        *slog.Logger
}

func (r repartition) run(ctx context.Context) error {
	var old, missing, closed []kafka.TopicState
	for _, name := range kafka.KeyedTopics() {
		topic, err := kafka.ReadTopic(ctx, r.client, name)
		if err != nil {
			return err
		}
		if !topic.Exists() {
			missing = append(missing, topic)
			continue
		}
		recorded, err := r.ledger.Partitions(ctx, topic.ID, name, int(topic.Partitions))
		switch {
		case err != nil:
			return err
		case recorded != int(r.partitions):
			old = append(old, topic)
		case topic.Closed:
			closed = append(closed, topic)
		}
	}
	if err := r.drain(ctx, old); err != nil {
		again, cancel := context.WithTimeout(context.WithoutCancel(ctx), reopenLimit)
		defer cancel()
		for _, topic := range old {
			err = errors.Join(err, topic.Open(again, r.client))
		}
		return exitError{fmt.Errorf("the topics stay as they were: %w", err), exitUnfinished}
	}
	if err := r.replace(ctx, append(old, missing...), closed); err != nil {
		return exitError{fmt.Errorf(
			"events wait in the spools of collectors until this command was run again and has ended: %w", err), exitUnfinished}
	}
	r.log.Info("changed the number of partitions of the topics of events", "partitions", r.partitions)
	return nil
}

// drain closes the topics, and returns when everything in them is stored.
func (r repartition) drain(ctx context.Context, topics []kafka.TopicState) error {
	if len(topics) == 0 {
		return nil
	}
	for _, topic := range topics {
		r.log.Info("the topic is closed: events wait in the spools of collectors", "topic", topic.Name)
		if err := topic.Close(ctx, r.client); err != nil {
			return err
		}
	}
	if err := service.Sleep(ctx, closeSettle); err != nil {
		return err
	}
	for _, topic := range topics {
		if err := topic.Refuses(ctx, r.options); err != nil {
			return err
		}
	}
	for _, topic := range topics {
		if err := r.awaitStored(ctx, topic); err != nil {
			return err
		}
	}
	return nil
}

// awaitStored returns when the consumers have committed the end of every partition of a closed
// topic, those of every copy of the events. They commit what ClickHouse has.
func (r repartition) awaitStored(ctx context.Context, topic kafka.TopicState) error {
	logged := int64(-1)
	for {
		left, err := r.left(ctx, topic)
		if err != nil {
			return err
		}
		if left == 0 {
			r.log.Info("every record of the topic is stored", "topic", topic.Name)
			return nil
		}
		if left != logged {
			r.log.Info("waiting until the records of the topic are stored", "topic", topic.Name, "records", left)
		}
		logged = left
		if err := service.Sleep(ctx, drainEvery); err != nil {
			return fmt.Errorf("%d records of %s were not stored: %w", left, topic.Name, err)
		}
	}
}

// left returns how many records of a topic are not stored, in all copies of the events together.
func (r repartition) left(ctx context.Context, topic kafka.TopicState) (n int64, err error) {
	ranges, err := kafka.Ranges(ctx, r.client, topic.Name)
	if err != nil {
		return 0, err
	}
	if len(ranges) != int(topic.Partitions) {
		return 0, fmt.Errorf("%s has %d partitions, and had %d", topic.Name, len(ranges), topic.Partitions)
	}
	groups, err := store.New(r.pool.Unscoped()).GroupsOfTopic(ctx, topic.ID)
	if err != nil {
		return 0, fmt.Errorf("read which consumer groups store %s: %w", topic.Name, err)
	}
	if len(groups) == 0 { // no one has stored anything
		for _, log := range ranges {
			n += log.To - log.From
		}
	}
	for _, group := range groups {
		done, err := stream.Committed(ctx, r.client, group, topic.Name, topic.ID)
		if err != nil {
			return 0, err
		}
		for partition, log := range ranges {
			n += max(0, log.To-max(done[partition], log.From))
		}
	}
	return n, nil
}

// replace deletes the topics that exist, makes all of them, and opens them.
func (r repartition) replace(ctx context.Context, topics, closed []kafka.TopicState) error {
	for _, topic := range topics {
		made, err := topic.Recreate(ctx, r.client, r.partitions)
		if err != nil {
			return err
		}
		if _, err := r.ledger.Partitions(ctx, made.ID, made.Name, int(made.Partitions)); err != nil {
			return err
		}
		r.log.Info("the topic is replaced", "topic", topic.Name, "partitions", made.Partitions)
		closed = append(closed, made)
	}
	if len(closed) == 0 {
		return nil
	}
	if err := service.Sleep(ctx, openSettle); err != nil {
		return err
	}
	for _, topic := range closed {
		if err := topic.Open(ctx, r.client); err != nil {
			return err
		}
	}
	return nil
}
