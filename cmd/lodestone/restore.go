package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/crud"
	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/backup"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type restoreCommand struct {
	Run    restoreRunCommand    `cmd:"" default:"withargs" help:"Restore a backup into empty engines. Stop every process first."`
	Copy   restoreCopyCommand   `cmd:"" help:"Restore a backup's ClickHouse data into empty servers, as a further copy of the events. The installation may be running."`
	Align  restoreAlignCommand  `cmd:"" help:"Align Postgres and ClickHouse after one of them was restored by other means. Stop the consumers first."`
	Resume restoreResumeCommand `cmd:"" help:"Resume mails, messages and webhooks after a restore."`
}

// Settings of engines that need not be given: the parser does not validate these types.
type (
	optionalPostgres   postgres.Config
	optionalClickHouse clickhouse.Config
	optionalKafka      kafka.Config
)

type restoreRunCommand struct {
	Data       string             `name:"data" default:"./data" help:"Data directory of a lodestone up, for engines that are not given by address. The engines run during the restore."`
	Cache      string             `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, as for up."`
	Process    processConfig      `embed:""`
	Postgres   optionalPostgres   `embed:""`
	ClickHouse optionalClickHouse `embed:""`
	Kafka      optionalKafka      `embed:""`
	Files      file.Config        `embed:""`
	Backup     backup.Config      `embed:""`
	Erasure    person.Config      `embed:""`
	Name       string             `name:"backup" placeholder:"NAME" help:"Backup to restore. Default: the newest."`
	Place      string             `arg:"" help:"Place of the backups: a directory, or s3://bucket/prefix."`
}

// restoreTopics are the settings of topics that are missing.
var restoreTopics = kafka.TopicConfig{Partitions: upPartitions, Replication: -1}

// stores returns the settings of the engines, and whether they are those of the data directory.
func (c *restoreRunCommand) stores() (s backupStores, embedded bool) {
	s = backupStores{
		Process: c.Process, Postgres: postgres.Config(c.Postgres), ClickHouse: clickhouse.Config(c.ClickHouse),
		Kafka: kafka.Config(c.Kafka),
		Files: c.Files, Backup: c.Backup,
	}
	return s, s.Postgres.URL == "" && s.ClickHouse.URL == "" && len(s.Kafka.Brokers) == 0
}

// Run restores a backup.
func (c *restoreRunCommand) Run(ctx context.Context) (err error) {
	s, embedded := c.stores()
	err = errors.Join(validate(s.Files, placed{s.Files.S3, c.Place}), c.Erasure.Validate(c.Files.S3))
	if !embedded {
		err = errors.Join(err, validate(s.Postgres, s.ClickHouse, s.Kafka))
	}
	if err != nil {
		return err
	}
	c.Erasure.Log = c.Erasure.Place(c.Files.Store)
	if !embedded {
		return c.restore(ctx, s)
	}
	if c.Erasure.Log == "" {
		c.Erasure.Log = erasuresOf(c.Data)
	}
	engines, stop, err := startEngines(ctx, c.Process, c.Data, c.Cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s.Postgres.URL, s.ClickHouse.URL, s.Kafka = engines.PostgresURL(), engines.ClickHouseURL(), engines.Kafka()
	s.Backup.ClickHouseDir = backupsOf(engines.DataDir())
	return c.restore(ctx, s)
}

func (c *restoreRunCommand) restore(ctx context.Context, s backupStores) error {
	begin := time.Now()
	var m backup.Manifest
	var again backup.Rewind
	err := s.open(ctx, c.Place, func(b *backup.Backups, _ *postgres.Pool) (err error) {
		if m, err = b.Find(ctx, c.Name); err != nil {
			return err
		}
		again, err = b.Restore(ctx, m)
		return err
	})
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.Process.logger(), s.Postgres, s.ClickHouse, s.Kafka, restoreTopics); err != nil {
		return fmt.Errorf("the backup is restored, but not migrated (run `lodestone migrate`): %w", err)
	}
	if err := c.replay(ctx, s.Postgres); err != nil {
		return fmt.Errorf("the backup is restored, but people who were erased since are not erased again (start crud, which does it before it serves anything): %w", err)
	}
	fmt.Printf("restored: %s, the state of %s, in %s\n", m.Name, m.PostgresAt.UTC().Format(time.RFC3339),
		time.Since(begin).Round(time.Millisecond))
	c.printNext(again)
	return nil
}

func (c *restoreRunCommand) printNext(again backup.Rewind) {
	if again.Partitions == 0 {
		fmt.Println("Kafka lacks the topics of the backup: events since then are lost.")
	} else {
		fmt.Printf("records that consumers read again from Kafka: %d\n", again.Records)
	}
	if again.Expired > 0 {
		fmt.Printf("records that Kafka has deleted since the backup: %d. Those that the backup lacks are lost: lodestone verify lists them\n", again.Expired)
	}
	if c.Erasure.Log == "" {
		fmt.Println("There is no --erasure-log: people who were erased since the backup are in the databases again. Start crud with the log, and the other processes once it is ready.")
	}
	fmt.Println(`Next:
  1. Put back what the backup does not have: the token keys, the settings.
  2. Start the processes (or lodestone up).
  3. When the consumers have caught up, run: lodestone verify
  4. Mails, messages and webhooks wait. Let them go: lodestone restore resume`)
}

// replay revokes and erases again what the log of erasures has and the backup has not, if there is
// a log.
func (c *restoreRunCommand) replay(ctx context.Context, pg postgres.Config) error {
	log, err := person.OpenLog(c.Erasure, c.Files.S3)
	if err != nil || log == nil {
		return err
	}
	place, err := crud.OpenRevocations(c.Erasure.Log, c.Files.S3)
	if err != nil {
		return err
	}
	return withSchema(ctx, pg, func(pool *postgres.Pool) error {
		revocations := crud.NewRevocations(crud.RevocationDeps{Postgres: pool, Place: place, Log: c.Process.logger(),
			Registerer: prometheus.NewRegistry()})
		if err := revocations.Replay(ctx); err != nil {
			return err
		}
		n, err := person.NewEraser(c.Erasure, person.EraserDeps{Postgres: pool, Log: log,
			Logger: c.Process.logger()}).Replay(ctx)
		fmt.Printf("erasures since the backup, repeated: %d\n", n)
		return err
	})
}

// startEngines runs the engines of a data directory.
func startEngines(ctx context.Context, process processConfig, data, cache string) (*engine.Set, func() error, error) {
	log := process.logger()
	engines := engine.NewSet(engine.Config{Data: data, Cache: cache},
		engine.Deps{Runtime: engine.Runtime{Log: log}, Progress: progress})
	start, cancel := context.WithTimeout(ctx, upStartTimeout)
	defer cancel()
	if err := engines.Start(start); err != nil {
		return nil, nil, err
	}
	return engines, func() error {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), upEnginesTimeout)
		defer cancel()
		return engines.Stop(stop)
	}, nil
}

// erasuresOf is the log of erasures of a data directory.
func erasuresOf(data string) string { return filepath.Join(data, "erasures") }

// backupsOf is where the ClickHouse of a data directory may write backups.
func backupsOf(data string) string { return filepath.Join(data, "clickhouse", "backups") }

type restoreAlignCommand struct {
	Data       string             `name:"data" default:"./data" help:"Data directory of a lodestone up, for engines that are not given by address. The engines run during the command."`
	Cache      string             `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, as for up."`
	Process    processConfig      `embed:""`
	Postgres   optionalPostgres   `embed:""`
	ClickHouse optionalClickHouse `embed:""`
	Kafka      optionalKafka      `embed:""`
}

// Run aligns the stores.
func (c *restoreAlignCommand) Run(ctx context.Context) (err error) {
	d := backup.Deps{ClickHouse: clickhouse.Config(c.ClickHouse), Kafka: kafka.Config(c.Kafka), Log: c.Process.logger()}
	pg := postgres.Config(c.Postgres)
	if pg.URL == "" && d.ClickHouse.URL == "" && len(d.Kafka.Brokers) == 0 {
		engines, stop, err := startEngines(ctx, c.Process, c.Data, c.Cache)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		pg.URL, d.ClickHouse.URL, d.Kafka = engines.PostgresURL(), engines.ClickHouseURL(), engines.Kafka()
	} else if err := validate(pg, d.ClickHouse, d.Kafka); err != nil {
		return err
	}
	return withSchema(ctx, pg, func(pool *postgres.Pool) error {
		d.Postgres = pool
		again, err := backup.Align(ctx, d)
		if err != nil {
			return err
		}
		fmt.Printf("records that consumers read again from Kafka: %d\nStart the consumers. When they have caught up, run: lodestone recount, then lodestone verify\n", again.Records)
		return nil
	})
}

type restoreResumeCommand struct {
	Data     dataConfig      `embed:""`
	Postgres postgres.Config `embed:""`
	Send     bool            `name:"send-waiting" env:"-" help:"Also send mails and messages that were queued when the backup was made. Some may have been sent since, and are then sent twice. Default: they are dropped; webhook deliveries stay in their log, from which you can resend them."`
}

// Run resumes.
func (c *restoreResumeCommand) Run(ctx context.Context) error {
	return withSchema(ctx, c.Postgres, func(pool *postgres.Pool) error {
		w, paused, err := backup.Paused(ctx, pool)
		if err != nil {
			return err
		}
		if !paused {
			return errors.New("nothing is paused: there was no restore, or it was resumed")
		}
		if err := backup.Resume(ctx, pool, c.Send); err != nil {
			return err
		}
		what := "dropped"
		if c.Send {
			what = "sent now"
		}
		_, err = fmt.Fprintf(os.Stdout, "resumed; of the backup were %s: %d mails and messages, %d deliveries to webhooks\n",
			what, w.Jobs, w.Webhooks)
		if err != nil {
			return fmt.Errorf("print: %w", err)
		}
		return nil
	})
}
