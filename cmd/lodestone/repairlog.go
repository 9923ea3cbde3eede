package main

import (
	"context"
	"errors"
	"fmt"

	"lodestone/ingest/stream"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/erasure"
	"lodestone/ingest/logbook"
	"lodestone/ingest/repair"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/placement"
	"lodestone/pkg/postgres"
)

type repairLogCommand struct {
	Process    processConfig     `embed:""`
	Kafka      kafka.Config      `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Postgres   postgres.Config   `embed:""`
	Group      string            `name:"consumer-group" default:"lodestone" help:"Kafka consumer group. Consumers of one group share the partitions."`
	Topic      string            `arg:"" help:"Topic: lodestone.events or lodestone.link_views."`
	Partition  int32             `arg:"" help:"Number of the partition."`
}

// Run repairs one partition.
func (c *repairLogCommand) Run(ctx context.Context) (err error) {
	err = validate(c.Kafka, c.ClickHouse, c.Postgres)
	of, known := stream.Of(c.Topic)
	if !known {
		err = errors.Join(err, config.Invalid("TOPIC", "is "+c.Topic, "give "+event.Topic+" or "+event.LinkViewTopic))
	}
	if err != nil {
		return err
	}
	var erased erasure.Set
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := placement.Check(ctx, pool, c.ClickHouse); err != nil { // rows of another shard would be written again
		return err
	}
	if err := erased.Load(ctx, pool); err != nil {
		return err
	}
	conn, err := clickhouse.Open(c.ClickHouse, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return withLogbookAndKafka(ctx, c.Process, c.Kafka, c.Postgres, func(book *logbook.Book, _ *kgo.Client) error {
		r := repair.Repairer{Options: c.Kafka.Options(c.Process.logger()), Conn: conn, Book: book, Group: c.Group, Erased: &erased}
		done, err := r.Partition(ctx, of, c.Partition)
		if err != nil {
			return err
		}
		fmt.Printf("offsets %d to %d were taken by other records than those stored; written again: %d\n", done.Offsets.From, done.Offsets.To-1, done.Records)
		return nil
	})
}
