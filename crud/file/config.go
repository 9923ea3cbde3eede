package file

import (
	"errors"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
)

// Config is the setting of where files are stored.
type Config struct {
	Store string      `name:"file-store" placeholder:"s3://BUCKET/PREFIX" help:"Bucket for the files of lead magnets. Default: they are stored in Postgres. Existing files stay where they are."`
	S3    blob.Config `embed:""`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Store != "" {
		errs = append(errs, c.S3.Validate())
		if _, ok := blob.ParseLocation(c.Store); !ok {
			errs = append(errs, config.Invalid("--file-store", "is not an address of a bucket", "write s3://bucket/prefix"))
		}
	}
	return errors.Join(errs...)
}
