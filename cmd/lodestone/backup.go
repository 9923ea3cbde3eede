package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"lodestone/crud/file"
	"lodestone/pkg/backup"
	"lodestone/pkg/blob"
	"lodestone/pkg/build"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type backupCommand struct {
	Create backupCreateCommand `cmd:"" default:"withargs" help:"Back up Postgres, ClickHouse, files and offsets while everything runs."`
	List   backupListCommand   `cmd:"" help:"List the backups in a place."`
	Check  backupCheckCommand  `cmd:"" help:"Read every byte of a backup, and compare it with the checksums."`
}

// backupStores configures the stores that are backed up and restored.
type backupStores struct {
	Process    processConfig     `embed:""`
	Postgres   postgres.Config   `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Kafka      kafka.Config      `embed:""`
	Files      file.Config       `embed:""`
	Backup     backup.Config     `embed:""`
}

// open calls fn with a place of backups.
func (c backupStores) open(ctx context.Context, at string, fn func(*backup.Backups, *postgres.Pool) error) error {
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		d := backup.Deps{
			Postgres: pool, ClickHouse: c.ClickHouse, Kafka: c.Kafka, S3: c.Files.S3,
			Program: build.Current().Version, Log: c.Process.logger(), Progress: progress,
		}
		if at, ok := blob.ParseLocation(c.Files.Store); ok {
			client, err := c.Files.S3.Open()
			if err != nil {
				return err
			}
			d.Files = &backup.Bucket{Client: client, At: at}
		}
		b, err := backup.Open(c.Backup, d, at)
		if err != nil {
			return err
		}
		return fn(b, pool)
	})
}

func progress(line string) { fmt.Fprintln(os.Stderr, line) }

type backupCreateCommand struct {
	Data   dataConfig   `embed:""`
	Stores backupStores `embed:""`
	Place  string       `arg:"" help:"Place of the backups: a directory, or s3://bucket/prefix."`
}

// Run makes a backup.
func (c *backupCreateCommand) Run(ctx context.Context) error {
	if err := validate(c.Stores.Postgres, c.Stores.ClickHouse, c.Stores.Kafka, c.Stores.Files,
		placed{c.Stores.Files.S3, c.Place}); err != nil {
		return err
	}
	return c.Stores.open(ctx, c.Place, func(b *backup.Backups, pool *postgres.Pool) error {
		if err := pool.CheckSchema(ctx); err != nil {
			return err
		}
		m, err := b.Create(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("backup: %s\ntook: %s\nsize: %d bytes\n", m.Name,
			m.EndedAt.Sub(m.BeganAt).Round(time.Millisecond), m.Bytes())
		fmt.Println("It does not have:")
		for _, line := range m.Lacks {
			fmt.Println("  -", line)
		}
		return nil
	})
}

// placed is a place of backups, with the settings of buckets.
type placed struct {
	s3 blob.Config
	at string
}

// Validate returns every problem of the settings.
func (p placed) Validate() error {
	if p.at == "" {
		return config.Invalid("PLACE", "is empty", "name a directory, or s3://bucket/prefix")
	}
	if _, bucket := blob.ParseLocation(p.at); bucket {
		return p.s3.Validate()
	}
	return nil
}

type backupListCommand struct {
	Backup backup.Config `embed:""`
	S3     blob.Config   `embed:""`
	Place  string        `arg:"" help:"Place of the backups: a directory, or s3://bucket/prefix."`
}

// Run lists backups.
func (c *backupListCommand) Run(ctx context.Context) error {
	return withBackups(c.Backup, c.S3, c.Place, func(b *backup.Backups) error {
		all, err := b.List(ctx)
		if err != nil {
			return err
		}
		rows := [][]string{{"NAME", "STATE OF", "EVENTS UNTIL", "BYTES", "SCHEMA", "VERSION"}}
		for _, m := range all {
			var newest time.Time
			for _, s := range m.ClickHouse {
				if s.Newest.After(newest) {
					newest = s.Newest
				}
			}
			until := "none"
			if !newest.IsZero() {
				until = newest.UTC().Format(time.RFC3339)
			}
			rows = append(rows, []string{
				m.Name, m.PostgresAt.UTC().Format(time.RFC3339), until, fmt.Sprint(m.Bytes()),
				fmt.Sprint(m.Postgres.Schema), m.Program,
			})
		}
		return printTable(os.Stdout, rows)
	})
}

type backupCheckCommand struct {
	Backup backup.Config `embed:""`
	S3     blob.Config   `embed:""`
	Name   string        `name:"backup" placeholder:"NAME" help:"Backup to check. Default: the newest."`
	Place  string        `arg:"" help:"Place of the backups: a directory, or s3://bucket/prefix."`
}

// Run checks a backup.
func (c *backupCheckCommand) Run(ctx context.Context) error {
	return withBackups(c.Backup, c.S3, c.Place, func(b *backup.Backups) error {
		m, err := b.Find(ctx, c.Name)
		if err != nil {
			return err
		}
		wrong, err := b.Check(ctx, m)
		for _, line := range wrong {
			fmt.Println(line)
		}
		if err != nil {
			return exitError{err, exitUnfinished}
		}
		if len(wrong) > 0 {
			return fmt.Errorf("%d problems in backup %s", len(wrong), m.Name)
		}
		fmt.Println(m.Name, "is complete: every byte has the checksum that was written.")
		for _, g := range m.Gone {
			fmt.Println(g)
		}
		return nil
	})
}

func withBackups(c backup.Config, s3 blob.Config, at string, fn func(*backup.Backups) error) error {
	if err := validate(placed{s3, at}); err != nil {
		return err
	}
	b, err := backup.Open(c, backup.Deps{S3: s3, Log: slog.New(slog.DiscardHandler)}, at)
	if err != nil {
		return err
	}
	return fn(b)
}
