package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/stream"
	"lodestone/pkg/build"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
)

type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// versions are those of a program and of everything that it shares with programs of other releases.
type versions struct {
	build.Info
	BlockRules       int   `json:"block_rules"`
	RecordFormat     int   `json:"record_format"`
	PostgresSchema   int64 `json:"postgres_schema"`
	ClickHouseSchema int64 `json:"clickhouse_schema"`
}

func currentVersions() (versions, error) {
	v := versions{Info: build.Current(), BlockRules: stream.BlockRules, RecordFormat: event.SchemaVersion}
	var err error
	if v.PostgresSchema, err = postgres.NewestMigration(); err != nil {
		return v, err
	}
	v.ClickHouseSchema, err = clickhouse.NewestMigration()
	return v, err
}

// Run prints the version.
func (c versionCommand) Run() error {
	v, err := currentVersions()
	if err != nil {
		return err
	}
	return v.print(os.Stdout, c.JSON)
}

func (v versions) print(to io.Writer, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(to)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	_, err := fmt.Fprintf(to, "lodestone %s\n", v.Version)
	for _, line := range []struct {
		name, value string
	}{
		{"commit", v.Commit},
		{"date", v.Date},
		{"built with", v.Go + " for " + v.Platform},
		{"block rules", strconv.Itoa(v.BlockRules)},
		{"record format", strconv.Itoa(v.RecordFormat)},
		{"Postgres schema", strconv.FormatInt(v.PostgresSchema, 10)},
		{"ClickHouse schema", strconv.FormatInt(v.ClickHouseSchema, 10)},
	} {
		if err == nil && line.value != "" {
			_, err = fmt.Fprintf(to, "  %-18s %s\n", line.name, line.value)
		}
	}
	return err
}

// registerBuild shows the version of the program among its metrics, so that a query can say which
// releases run beside each other.
func registerBuild(metrics prometheus.Registerer) {
	v := build.Current()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_build_info",
		Help: "1, with the version, the commit, the version of Go and the version of the block rules of this program.",
		ConstLabels: prometheus.Labels{"version": v.Version, "commit": v.Commit, "go": v.Go,
			"block_rules": strconv.Itoa(stream.BlockRules)},
	})
	info.Set(1)
	metrics.MustRegister(info)
}
