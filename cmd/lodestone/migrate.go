package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/schema"
)

// migrateTimeout bounds a migration, with its wait for another process that migrates. An index of a
// large table takes long, and stops no one meanwhile.
const migrateTimeout = 2 * time.Hour

type migrateCommand struct {
	Process    processConfig             `embed:""`
	Postgres   postgres.Config           `embed:""`
	ClickHouse clickhouse.Config         `embed:""`
	Workload   clickhouse.WorkloadConfig `embed:""`
	Kafka      kafka.Config              `embed:""`
	Topics     kafka.TopicConfig         `embed:""`
	Check      bool                      `name:"check" help:"Change nothing, only list the pending migrations. Exits with 0 if none is pending, otherwise with 3."`
}

func (c *migrateCommand) check() error {
	return validate(c.Postgres, c.ClickHouse, c.Workload, c.Kafka, c.Topics)
}

// Run brings everything up to date.
func (c *migrateCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Check {
		return c.list(ctx, os.Stdout)
	}
	log := c.Process.logger()
	if err := migrate(ctx, log, c.Postgres, c.ClickHouse, c.Kafka, c.Topics); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	unconfined, version, err := clickhouse.Unconfined(ctx, c.ClickHouse)
	if err != nil {
		return err
	}
	if unconfined {
		log.Warn("this version of ClickHouse is not safe for SQL users: they could do more than read, or it does not start with their settings", "version", version,
			"remedy", "update ClickHouse, to the versions in docs/sql.md")
	}
	if c.Workload.Queries == 0 {
		return nil
	}
	return clickhouse.MakeWorkload(ctx, c.ClickHouse, c.Workload.Queries)
}

// list prints the migrations that are pending. The code of its error says whether there are some.
func (c *migrateCommand) list(ctx context.Context, to io.Writer) error {
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	pending := 0
	for _, store := range []struct {
		name string
		ask  func() ([]schema.Migration, error)
	}{
		{"Postgres", func() ([]schema.Migration, error) { return pool.Pending(ctx) }},
		{"ClickHouse", func() ([]schema.Migration, error) { return clickhouse.Pending(ctx, c.ClickHouse) }},
	} {
		migrations, err := store.ask()
		if err != nil {
			return err
		}
		pending += len(migrations)
		for _, m := range migrations {
			if _, err := fmt.Fprintf(to, "%s %d (%s)\n", store.name, m.Number, m.Name); err != nil {
				return fmt.Errorf("print: %w", err)
			}
		}
	}
	if pending == 0 {
		_, err := fmt.Fprintln(to, "no migration is pending")
		return err
	}
	return exitError{fmt.Errorf("%d migrations are pending", pending), exitUnfinished}
}

// migrate brings the schemas up to date and makes the topics, while no other process does.
func migrate(ctx context.Context, log *slog.Logger, p postgres.Config, s clickhouse.Config, k kafka.Config,
	t kafka.TopicConfig) error {
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	pool, err := postgres.Open(ctx, p)
	if err != nil {
		return err
	}
	defer pool.Close()
	return pool.WithMigrationLock(ctx, func(ctx context.Context) error {
		applied, err := pool.Migrate(ctx)
		if err != nil {
			return err
		}
		report(log, "postgres", applied)
		repaired, err := pool.RepairAccess(ctx)
		if err != nil {
			return err
		}
		if len(repaired) > 0 {
			log.Warn("restored row-level security on tables that had lost it", "tables",
				strings.Join(repaired, " "))
		}
		if applied, err = clickhouse.Migrate(ctx, s); err != nil {
			return err
		}
		report(log, "clickhouse", applied)
		added, err := stream.AddCopy(ctx, pool, s)
		if err != nil {
			return err
		}
		if added {
			log.Info("registered a copy of the events", "copy", s.Number())
		}
		client, err := kgo.NewClient(k.Options(log)...)
		if err != nil {
			return fmt.Errorf("make Kafka client: %w", err)
		}
		defer client.Close()
		created, err := kafka.CreateTopics(ctx, client, t)
		if err != nil {
			return err
		}
		if len(created) > 0 {
			log.Info("created Kafka topics", "topics", strings.Join(created, " "))
		}
		ledger := kafka.Ledger{Pool: pool}
		// Puts the number of partitions on record, if it is not yet.
		findings, err := kafka.Check(ctx, client, ledger, kafka.Topics()...)
		if err != nil {
			return err
		}
		for _, f := range findings {
			if f.Missing { // just created: the queried broker has no metadata of it yet
				continue
			}
			log.Warn("a Kafka setting puts events at risk", "where", f.Where, "setting", f.Setting, "wrong",
				f.Wrong, "remedy", f.Remedy)
		}
		return nil
	})
}

func report(log *slog.Logger, engine string, applied []int64) {
	if len(applied) == 0 {
		log.Info("schema is up to date", "engine", engine)
		return
	}
	log.Info("schema migrated", "engine", engine, "migrations", applied)
}
