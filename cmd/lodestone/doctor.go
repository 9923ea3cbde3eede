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
	examinedReads      postgres.ReadConfig
	examinedFiles      file.Config
	examinedTokenKeys  token.Config
)

type doctorCommand struct {
	Data         dataConfig         `embed:""`
	Postgres     examinedPostgres   `embed:""`
	ClickHouse   examinedClickHouse `embed:""`
	Kafka        examinedKafka      `embed:""`
	Reads        examinedReads      `embed:""`
	TokenKeys    examinedTokenKeys  `embed:""`
	Files        examinedFiles      `embed:""`
	Erasure      person.Config      `embed:""`
	SpoolDir     string             `name:"spool-dir" placeholder:"DIR" help:"Directory of a collector's spool on this machine, to look at its disk."`
	PublicURL    string             `name:"public-url" placeholder:"URL" help:"Address at which visitors reach the site, to look at its certificate."`
	CollectorURL string             `name:"collector-url" placeholder:"URL" help:"Address at which browsers reach the collector, to look at its certificate."`
	Site         certificate.Server `embed:""`
	Collector    certificate.Server `embed:"" prefix:"collector-"`
	Admin        certificate.Server `embed:"" prefix:"admin-"`
	MCP          certificate.Server `embed:"" prefix:"mcp-"`
	API          certificate.Client `embed:"" prefix:"api-"`
	JSON         bool               `name:"json" help:"Print JSON."`
}

// Run examines the installation, and fails if something does not work. Warnings alone are no failure.
func (c *doctorCommand) Run(ctx context.Context, app *kong.Kong) error {
	var r doctor.Report
	doctor.Engines{Postgres: postgres.Config(c.Postgres), Reads: postgres.ReadConfig(c.Reads), ClickHouse: clickhouse.Config(c.ClickHouse), Kafka: kafka.Config(c.Kafka)}.Check(ctx, &r)
	doctor.Stores{Files: file.Config(c.Files), Erasure: c.Erasure}.Check(ctx, &r)
	m := doctor.Machine{
		Spool: c.SpoolDir, Data: c.Data.Data, Addresses: []string{c.PublicURL, c.CollectorURL}, Trust: c.API, Environ: os.Environ(),
		Unknown: unknownVariables(app.Model, os.Environ()), TokenKeys: c.TokenKeys.Keys,
	}
	for _, file := range []string{c.Kafka.Files.CA, c.Kafka.Files.Cert, c.ClickHouse.TLS.CA, c.ClickHouse.TLS.Cert, c.API.CA, c.API.Cert, c.Files.S3.TLS.CA} {
		if file != "" {
			m.Files = append(m.Files, file)
		}
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
