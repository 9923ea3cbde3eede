package main

import (
	"context"
	"fmt"
	"time"

	"lodestone/pkg/backup"
	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type restoreCopyCommand struct {
	Process    processConfig     `embed:""`
	Postgres   postgres.Config   `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Kafka      kafka.Config      `embed:""`
	S3         blob.Config       `embed:""`
	Backup     backup.Config     `embed:""`
	Group      string            `name:"consumer-group" default:"lodestone" help:"Kafka consumer group. Consumers of one group share the partitions. For copies of the events after the first, -copy- and the number are appended."`
	Name       string            `name:"backup" placeholder:"NAME" help:"Backup to restore. Default: the newest."`
	Place      string            `arg:"" help:"Place of the backups: a directory, or s3://bucket/prefix."`
}

// Run restores the ClickHouse of a backup as a copy of the events.
func (c *restoreCopyCommand) Run(ctx context.Context) error {
	if err := validate(c.Postgres, c.ClickHouse, c.Kafka, placed{c.S3, c.Place}); err != nil {
		return err
	}
	begin := time.Now()
	group := c.ClickHouse.Group(c.Group)
	return withSchema(ctx, c.Postgres, func(pool *postgres.Pool) error {
		b, err := backup.Open(c.Backup, backup.Deps{
			Postgres: pool, ClickHouse: c.ClickHouse, Kafka: c.Kafka, S3: c.S3, Log: c.Process.logger(), Progress: progress,
		}, c.Place)
		if err != nil {
			return err
		}
		m, err := b.Find(ctx, c.Name)
		if err != nil {
			return err
		}
		again, err := b.RestoreCopy(ctx, m, group)
		if err != nil {
			return err
		}
		fmt.Printf("restored: ClickHouse of %s, as copy %d of the events, in %s\n", m.Name, c.ClickHouse.Number(),
			time.Since(begin).Round(time.Millisecond))
		c.printNext(group, again)
		return nil
	})
}

func (c *restoreCopyCommand) printNext(group string, again backup.Rewind) {
	fmt.Printf("records that its consumers read from Kafka: %d\n", again.Records)
	if again.Expired > 0 {
		fmt.Printf("records that Kafka has deleted since the backup: %d. The copy lacks those that the backup lacks: use a newer backup if the other copies have them\n", again.Expired)
	}
	number := c.ClickHouse.Number()
	fmt.Printf(`Next:
  1. Start its consumers, of the group %s: lodestone consumer --clickhouse-copy %d, with the addresses of its servers.
  2. When their lodestone_copy_lag_seconds is low, give the query services the copy: --clickhouse-other-copies.
  3. Compare it: lodestone verify --clickhouse-copy %d, with the addresses of its servers.
`, group, number, number)
}
