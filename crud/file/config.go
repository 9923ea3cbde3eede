package file

import (
	"errors"

	"lodestone/pkg/config"
	"lodestone/pkg/objectstore"
)

// Config is the setting of where files are stored.
type Config struct {
	Store      string             `name:"file-store" placeholder:"s3://BUCKET/PREFIX" help:"Bucket for the files of lead magnets. Default: they are stored in Postgres. Files that are stored already stay where they are until lodestone files move."`
	CacheBytes int64              `name:"file-cache-bytes" default:"1073741824" help:"Disk space for copies of files from the bucket, in the directory for temporary files."`
	S3         objectstore.Config `embed:""`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Store != "" {
		errs = append(errs, c.S3.Validate())
		if _, ok := objectstore.ParseLocation(c.Store); !ok {
			errs = append(errs, config.Invalid("--file-store", "is not an address of a bucket", "write s3://bucket/prefix"))
		}
	}
	if c.CacheBytes < 0 {
		errs = append(errs, config.Invalid("--file-cache-bytes", "is negative", "give a number of bytes, or 0 to keep only files that are being read"))
	}
	return errors.Join(errs...)
}
