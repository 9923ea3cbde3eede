package main

import (
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

// Settings without their methods: the parser would refuse wrong ones before there is a report.
type (
	examinedPostgres   postgres.Config
	examinedClickHouse clickhouse.Config
	examinedKafka      kafka.Config
	examinedFiles      file.Config
	examinedTokenKeys  token.Config
)

type doctorCommand struct {
	Data         dataConfig         `embed:""`
	Postgres     examinedPostgres   `embed:""`
	ClickHouse   examinedClickHouse `embed:""`
	Kafka        examinedKafka      `embed:""`
	TokenKeys    examinedTokenKeys  `embed:""`
	Files        examinedFiles      `embed:""`
	Erasure      person.Config      `embed:""`
	HTTPURL      string             `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the same ClickHouse, as http://host:port, which exports read from. Without it, there are none. User and password are those of its native address, unless the address has its own. Secret."`
	SQLURL       string             `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. If set, a test query runs as this user. Secret."`
	SpoolDir     string             `name:"spool-dir" placeholder:"DIR" help:"Directory of a collector's spool on this machine, to look at its disk."`
	PublicURL    string             `name:"public-url" placeholder:"URL" help:"Address at which visitors reach the site, to look at its certificate."`
	CollectorURL string             `name:"collector-url" placeholder:"URL" help:"Address at which browsers reach the collector, to look at its certificate."`
	Site         certificate.Server `embed:""`
	Collector    certificate.Server `embed:"" prefix:"collector-"`
	Admin        certificate.Server `embed:"" prefix:"admin-"`
	MCP          certificate.Server `embed:"" prefix:"mcp-"`
	JSON         bool               `name:"json" help:"Print JSON."`
}

// Run examines the installation, and fails if something does not work. Warnings alone are no failure.
func (c *doctorCommand) Run(ctx context.Context, app *kong.Kong) error {
	var r doctor.Report
	doctor.Engines{
		Postgres: postgres.Config(c.Postgres), ClickHouse: clickhouse.Config(c.ClickHouse), Kafka: kafka.Config(c.Kafka),
		HTTPURL: c.HTTPURL, SQLURL: c.SQLURL, Unopened: c.unopened(),
	}.Check(ctx, &r)
	doctor.Stores{Files: file.Config(c.Files), Erasure: c.Erasure}.Check(ctx, &r)
	m := doctor.Machine{
		Spool: c.SpoolDir, Data: c.Data.Data, Addresses: []string{c.PublicURL, c.CollectorURL}, Environ: os.Environ(),
		Unknown: unknownVariables(app.Model, os.Environ()), TokenKeys: c.TokenKeys.Keys,
	}
	for _, l := range []doctor.Listener{
		{Prefix: "", Files: c.Site, Public: c.PublicURL}, {Prefix: "collector-", Files: c.Collector, Public: c.CollectorURL},
		{Prefix: "admin-", Files: c.Admin}, {Prefix: "mcp-", Files: c.MCP},
	} {
		if l.Files != (certificate.Server{}) {
			m.Listeners = append(m.Listeners, l)
		}
	}
	m.Check(ctx, &r)
	show := r.Print
	if c.JSON {
		show = r.PrintJSON
	}
	if err := show(os.Stdout); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if n := r.Count(doctor.Fail); n > 0 {
		return fmt.Errorf("%d findings have to be fixed", n)
	}
	return nil
}

// unopened returns what tries the token keys; nil: there are none, or they cannot be used, which is reported.
func (c *doctorCommand) unopened() func(context.Context, *postgres.Pool) (none, total int, err error) {
	keys, err := tokenKeys(c.TokenKeys.Keys, c.Data.Data)
	if err != nil || keys.Keys == "" {
		return nil
	}
	ring, err := keys.Ring()
	if err != nil {
		return nil
	}
	return func(ctx context.Context, pool *postgres.Pool) (none, total int, err error) {
		counted, err := countSealed(ctx, pool, ring)
		if err != nil {
			return 0, 0, err
		}
		none, total = counted.unopened()
		return none, total, nil
	}
}
