package archive

import (
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/objectstore"
)

// Config is the setting of the daily export.
type Config struct {
	To          string             `name:"export-to" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Directory or bucket of the daily export."`
	Interval    time.Duration      `name:"export-interval" default:"10m" help:"Interval between looks for days that are complete."`
	Timeout     time.Duration      `name:"export-timeout" default:"1h" help:"Maximum duration of one file of the daily export."`
	MemoryBytes int64              `name:"export-max-memory-bytes" default:"536870912" help:"Maximum memory of one file of the daily export in ClickHouse."`
	TempDir     string             `name:"export-temp-dir" placeholder:"DIR" help:"Directory for files that are being written before they go to a bucket. Default: the system's."`
	Store       objectstore.Config `embed:"" prefix:"export-"`
}

const minMemory = 64 << 20

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if _, err := c.target(); config.IsInvalid(err) { // a store that cannot be opened is reported below
		errs = append(errs, err)
	}
	if c.Interval < time.Second || c.Interval > 24*time.Hour {
		errs = append(errs, config.Invalid("--export-interval", "is out of range", "give a time from 1s to 24h"))
	}
	if c.Timeout < time.Second || c.Timeout > 24*time.Hour {
		errs = append(errs, config.Invalid("--export-timeout", "is out of range", "give a time from 1s to 24h"))
	}
	if c.MemoryBytes < minMemory {
		errs = append(errs, config.Invalid("--export-max-memory-bytes", "is too little", "give at least 67108864"))
	}
	if _, ok := objectstore.ParseLocation(c.To); ok {
		errs = append(errs, c.Store.Validate("export-"))
	}
	return errors.Join(errs...)
}

// target returns where the archive lies.
func (c Config) target() (Target, error) {
	if at, ok := objectstore.ParseLocation(c.To); ok {
		return newBucket(c, at)
	}
	u, err := url.Parse(c.To)
	switch {
	case c.To == "":
		return nil, config.Invalid("--export-to", "is missing", "name a directory, or a bucket as s3://bucket/prefix")
	case err == nil && u.Scheme != "":
		return nil, config.Invalid("--export-to", "is not an address of a bucket", "write s3://bucket/prefix")
	}
	return directory{filepath.Clean(c.To)}, nil
}
