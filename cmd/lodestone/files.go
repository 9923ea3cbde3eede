package main

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/crud/file"
	"lodestone/pkg/postgres"
)

type filesCommand struct {
	Data dataConfig       `embed:""`
	Show filesShowCommand `cmd:"" help:"Show how many files are in Postgres, and how many in the bucket."`
	Move filesMoveCommand `cmd:"" help:"Move all files into Postgres or into the bucket of --file-store, while they are read. Safe to repeat."`
}

type filesShowCommand struct {
	Postgres postgres.Config `embed:""`
}

// Run shows where files are.
func (c *filesShowCommand) Run(ctx context.Context) error {
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		at, err := file.ReadPlaces(ctx, pool)
		if err != nil {
			return err
		}
		fmt.Printf("Postgres: %d files, %d bytes\nbucket:   %d files, %d bytes\n", at.Files, at.Bytes, at.ObjectFiles, at.ObjectBytes)
		return nil
	})
}

type filesMoveCommand struct {
	Postgres postgres.Config `embed:""`
	Files    file.Config     `embed:""`
	To       string          `arg:"" enum:"bucket,postgres" help:"Where the files go: bucket or postgres."`
}

// Run moves the files.
func (c *filesMoveCommand) Run(ctx context.Context) error {
	if err := validate(c.Postgres, c.Files); err != nil {
		return err
	}
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		log := (&processConfig{component: "files move"}).logger()
		files, err := file.New(c.Files, file.Deps{Postgres: pool, Log: log, Registerer: prometheus.NewRegistry()})
		if err != nil {
			return err
		}
		defer files.Close()
		var count, bytes int64
		err = files.Move(ctx, c.To == "bucket", func(size int64) { count++; bytes += size })
		fmt.Printf("moved %d files, %d bytes\n", count, bytes)
		return err
	})
}
