package main

import (
	"context"
	"errors"

	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/query/export"
)

type exportCommand struct {
	Daily exportDailyCommand `cmd:"" help:"Write the events of every account to a directory or a bucket, as a Parquet file for each day."`
}

type exportDailyCommand struct {
	Process    processConfig        `embed:""`
	Admin      adminConfig          `embed:""`
	Archive    export.ArchiveConfig `embed:""`
	ClickHouse clickhouse.Config    `embed:""`
	HTTPURL    string               `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the same ClickHouse, as http://host:port, which exports read from. User and password are those of its native address, unless the address has its own. Secret."`
	Postgres   postgres.Config      `embed:""`
	Data       dataConfig           `embed:""`
	Once       bool                 `name:"once" help:"Write the complete days, then exit."`
}

func (c *exportDailyCommand) check() error {
	var missing error
	if c.HTTPURL == "" {
		missing = config.Invalid("--clickhouse-http-url", "is missing",
			"give the HTTP address of ClickHouse, as http://host:port")
	}
	return errors.Join(missing, validate(c.Admin, c.Archive, c.ClickHouse, c.Postgres))
}

// Run is the process of the daily export.
func (c *exportDailyCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	if _, bucket := blob.ParseLocation(c.Archive.To); !bucket {
		if err := config.Writable("--export-to", c.Archive.To); err != nil {
			return err
		}
	}
	p := newProcess(c.Process)
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	if err := p.addShardCheck(ctx, c.ClickHouse, pool); err != nil {
		return errors.Join(err, p.stop(stopTimeout))
	}
	daily, err := export.NewArchive(c.Archive, export.ArchiveDeps{ClickHouse: c.ClickHouse, HTTP: c.HTTPURL,
		Postgres: pool, Log: p.log, Registerer: p.metrics})
	if err != nil {
		return errors.Join(err, p.stop(stopTimeout))
	}
	p.stack.Add("daily export's connections", closing(daily.Close))
	if c.Once {
		err := p.stack.Start(ctx)
		if err == nil {
			err = daily.Once(ctx)
		}
		return errors.Join(err, p.stop(stopTimeout))
	}
	p.addAdmin(c.Admin)
	p.stack.Add("daily export", daily)
	return p.run(ctx)
}
