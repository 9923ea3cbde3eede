package main

import (
	"context"
	"errors"
	"fmt"

	"lodestone/ingest/counter"
	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
)

type recountCommand struct {
	Data       dataConfig        `embed:""`
	Process    processConfig     `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Postgres   postgres.Config   `embed:""`
}

func (c *recountCommand) check() error { return validate(c.ClickHouse, c.Postgres) }

// Run sets the counters of all links.
func (c *recountCommand) Run(ctx context.Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	log := c.Process.logger()
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := clickhouse.Open(c.ClickHouse, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := stream.CheckPlacements(ctx, pool, c.ClickHouse); err != nil {
		return err
	}
	counted := 0
	err = counter.RecountAll(ctx, pool, c.ClickHouse.Number(), conn, func(links int) {
		counted = links
		log.Info("counted", "links", links)
	})
	if err != nil {
		return err
	}
	fmt.Printf("links counted: %d\n", counted)
	return nil
}
