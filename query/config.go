// Package query answers what happened: the list of events and the summary of an email address,
// from ClickHouse and Postgres.
package query

import (
	"errors"
	"time"

	"lodestone/pkg/config"
	"lodestone/query/export"
	"lodestone/query/live"
	"lodestone/query/scope"
)

// Config is the setting of the query service.
type Config struct {
	MaxConns       int           `kong:"-"` // concurrent queries of ClickHouse; a request runs one to three
	Timeout        time.Duration `name:"query-timeout" default:"10s" help:"Maximum duration of an analytics request."`
	MaxMemoryBytes int64         `name:"query-max-memory-bytes" default:"536870912" help:"Maximum memory of an analytics query in ClickHouse."`
	MaxExports     int           `kong:"-"`
	ExportTimeout  time.Duration `name:"query-export-timeout" default:"1h" help:"Maximum duration of an export."`

	ProcessorSeconds int `name:"query-processor-seconds-per-minute" default:"60" help:"Processor time per minute that reports of one account may use in ClickHouse. Above it, reports get 429 until the minute is over."`

	LiveStreams    int `name:"query-live-streams" default:"1000" help:"Maximum number of concurrent live streams of events per process."`
	LivePerAccount int `kong:"-"`
}

const (
	minTimeout = 100 * time.Millisecond
	maxTimeout = 5 * time.Minute
	minMemory  = 16 << 20
	maxExport  = 24 * time.Hour

	maxProcessorSeconds = 1_000_000
)

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.MaxConns = 16
	c.MaxExports = 4
	c.LivePerAccount = 20
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Timeout < minTimeout || c.Timeout > maxTimeout {
		errs = append(errs, config.Invalid("--query-timeout", "is out of range", "give a time from 100ms to 5m"))
	}
	if c.MaxMemoryBytes < minMemory {
		errs = append(errs, config.Invalid("--query-max-memory-bytes", "is too little", "give at least 16777216"))
	}
	if c.ExportTimeout < minTimeout || c.ExportTimeout > maxExport {
		errs = append(errs, config.Invalid("--query-export-timeout", "is out of range", "give a time from 100ms to 24h"))
	}
	if c.ProcessorSeconds < 1 || c.ProcessorSeconds > maxProcessorSeconds {
		errs = append(errs, config.Invalid("--query-processor-seconds-per-minute", "is out of range",
			"give a number from 1 to 1000000"))
	}
	if c.LiveStreams < 0 {
		errs = append(errs, config.Invalid("--query-live-streams", "is negative", "give 0 for none, or more"))
	}
	return errors.Join(errs...)
}

func (c Config) exports() export.Config {
	return export.Config{Max: c.MaxExports, Timeout: c.ExportTimeout, MemoryBytes: c.MaxMemoryBytes}
}

func (c Config) liveConfig() live.Config {
	return live.Config{Streams: c.LiveStreams, StreamsPerAccount: c.LivePerAccount}
}

func (c Config) limits() scope.Limits {
	return scope.Limits{MaxConns: c.MaxConns, Timeout: c.Timeout, MemoryBytes: c.MaxMemoryBytes}
}
