package main

import (
	"context"
	"fmt"
	"os"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/blob"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type doctorCommand struct {
	Data         dataConfig         `embed:""`
	Postgres     postgres.Config    `embed:""`
	ClickHouse   clickhouse.Config  `embed:""`
	Kafka        kafka.Config       `embed:""`
	Files        file.Config        `embed:""`
	Erasure      person.Config      `embed:""`
	HTTPURL      string             `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the same ClickHouse, as http://host:port, which exports read from. Without it, there are no exports. User and password are those of its native address, unless the address has its own. Secret."`
	SQLURL       string             `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. If set, a test query runs as this user. Secret."`
	SpoolDir     string             `name:"spool-dir" placeholder:"DIR" help:"Directory of a collector's spool on this machine, to check its disk."`
	PublicURL    string             `name:"public-url" placeholder:"URL" help:"Address at which visitors reach the site, to check its certificate."`
	CollectorURL string             `name:"collector-url" placeholder:"URL" help:"Address at which browsers reach the collector, to check its certificate."`
	Site         certificate.Server `embed:""`
	Collector    certificate.Server `embed:"" prefix:"collector-"`
	Admin        certificate.Server `embed:"" prefix:"admin-"`
	JSON         bool               `name:"json" help:"Print JSON."`
}

// Run examines the installation, and fails if something does not work. Warnings alone are no
// failure.
func (c *doctorCommand) Run(ctx context.Context) error {
	if err := validate(c.Postgres, c.ClickHouse, c.Kafka, c.Files); err != nil {
		return err
	}
	if err := c.Erasure.Validate(c.Files.S3); err != nil {
		return err
	}
	m := doctor.Machine{Spool: c.SpoolDir, Data: c.Data.Data, Addresses: []string{c.PublicURL, c.CollectorURL}}
	e := doctor.Engines{Postgres: c.Postgres, ClickHouse: c.ClickHouse, Kafka: c.Kafka,
		HTTPURL: c.HTTPURL, SQLURL: c.SQLURL}
	if at, ok := blob.ParseLocation(c.Files.Store); ok {
		e.Buckets = append(e.Buckets, doctor.Bucket{Setting: "--file-store", Store: c.Files.S3, At: at})
	}
	if at, ok := blob.ParseLocation(c.Erasure.Log); ok {
		e.Buckets = append(e.Buckets, doctor.Bucket{Setting: "--erasure-log", Store: c.Files.S3, At: at})
	} else {
		m.ErasureLog = c.Erasure.Log
	}
	for _, l := range []certificate.Server{c.Site, c.Collector, c.Admin} {
		for _, file := range []string{l.Cert, l.ClientCA} {
			if file != "" {
				m.Files = append(m.Files, file)
			}
		}
	}
	var r doctor.Report
	e.Check(ctx, &r)
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
