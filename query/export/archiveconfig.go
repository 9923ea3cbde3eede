package export

import (
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
)

// ArchiveConfig is the setting of the daily export.
type ArchiveConfig struct {
	To          string        `name:"export-to" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Directory or bucket of the daily export."`
	Interval    time.Duration `kong:"-"`
	Timeout     time.Duration `kong:"-"`
	MemoryBytes int64         `kong:"-"`
	TempDir     string        `kong:"-"`
	Store       blob.Config   `embed:""`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *ArchiveConfig) BeforeApply() error {
	c.Interval = 10 * time.Minute
	c.Timeout = time.Hour
	c.MemoryBytes = 512 << 20
	return nil
}

// Validate returns every problem of the settings.
func (c ArchiveConfig) Validate() error {
	var errs []error
	if _, err := c.target(); config.IsInvalid(err) { // a store that cannot be opened is reported below
		errs = append(errs, err)
	}
	if _, ok := blob.ParseLocation(c.To); ok {
		errs = append(errs, c.Store.Validate())
	}
	return errors.Join(errs...)
}

// target returns where the archive lies.
func (c ArchiveConfig) target() (Target, error) {
	if at, ok := blob.ParseLocation(c.To); ok {
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
