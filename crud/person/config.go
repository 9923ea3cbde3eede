package person

import (
	"errors"
	"strings"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
)

// Config is the setting of erasing.
type Config struct {
	Log        string `name:"erasure-log" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Place of the record of erasures and revocations, from which they are repeated after a restore: a directory, or a bucket of the store at --s3-endpoint. It must not be in the backups of the databases. Default: erasures/ in the bucket of --file-store, or in the data directory of up. Without it, no one can be erased, and links revoked after a backup work again once it is restored."`
	BackupDays int    `name:"backup-days" default:"0" help:"Number of days for which backups of the databases are kept. Receipts of erasures state it. 0: they state nothing."`
}

// maxBackupDays is ten years and more.
const maxBackupDays = 4000

// Validate returns every problem of the settings.
func (c Config) Validate(s3 blob.Config) error {
	var errs []error
	if c.BackupDays < 0 || c.BackupDays > maxBackupDays {
		errs = append(errs, config.Invalid("--backup-days", "is out of range", "give a number of days from 0 to 4000"))
	}
	if _, bucket := blob.ParseLocation(c.Log); bucket {
		errs = append(errs, s3.Validate())
	} else if strings.HasPrefix(c.Log, "s3:") {
		errs = append(errs, config.Invalid("--erasure-log", "is not an address of a bucket",
			"write s3://bucket/prefix, or a directory"))
	}
	return errors.Join(errs...)
}

// Place returns where the log is: in the bucket of files, which is "" if there is none, if nothing
// else is set.
func (c Config) Place(fileStore string) string {
	if c.Log == "" && fileStore != "" {
		return strings.TrimSuffix(fileStore, "/") + "/erasures"
	}
	return c.Log
}
