package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/objectstore"
)

// Stores are where crud keeps what is in no engine.
type Stores struct {
	Files   file.Config
	Erasure person.Config
}

// Validate returns every problem of the settings.
func (s Stores) Validate() error {
	return errors.Join(s.Files.Validate(), s.Erasure.Validate(s.Files.S3))
}

// Check examines the bucket of files and the log of erasures, each if it is set. What it writes there, it removes.
func (s Stores) Check(ctx context.Context, r *Report) {
	if !r.settings(s) {
		return
	}
	if at, ok := objectstore.ParseLocation(s.Files.Store); ok {
		r.bucket(ctx, s.Files.S3, bucket{at: at, setting: "--file-store", name: "the bucket of files " + s.Files.Store, optional: []objectstore.Use{objectstore.List}})
	}
	log, setting := s.Erasure.Place(s.Files.Store), "--erasure-log"
	if s.Erasure.Log == "" {
		setting = "--file-store"
	}
	at, inBucket := objectstore.ParseLocation(log)
	switch {
	case inBucket:
		r.bucket(ctx, s.Files.S3, bucket{at: at, setting: setting, name: "the log of erasures " + log, optional: []objectstore.Use{objectstore.Remove}})
	case log != "":
		r.erasureLog(log)
	}
}

// bucket is a place in a bucket.
type bucket struct {
	at            objectstore.Location
	setting, name string
	optional      []objectstore.Use // what crud does not need
}

// bucket reports whether a place in a bucket can be used. Old versions of objects are not needed anywhere.
func (r *Report) bucket(ctx context.Context, c objectstore.Config, b bucket) {
	const area = "bucket"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	refused, err := c.Try(ctx, "file-", b.setting, b.at)
	if err != nil {
		r.fail(area, "correct the settings --file-s3-…", "%s cannot be used: %v", b.name, err)
		return
	}
	for _, no := range refused {
		if no.Use == objectstore.RemoveVersions || slices.Contains(b.optional, no.Use) {
			r.warn(area, no.Remedy, "%s: %s", b.name, no.Wrong)
		} else {
			r.fail(area, no.Remedy, "%s: %s", b.name, no.Wrong)
		}
	}
	if len(refused) == 0 {
		r.ok(area, "%s takes, returns, lists and removes an object", b.name)
	}
}

// erasureLog reports on the directory of the log of erasures. crud makes it if it can.
func (r *Report) erasureLog(dir string) {
	const area = "disk"
	name := "the log of erasures " + dir
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		r.directory(name, dir, minErasureLog)
		revoked := filepath.Join(dir, "revoked")
		if info, err := os.Stat(revoked); err == nil && info.IsDir() {
			r.writable("the record of revocations "+revoked, revoked)
		}
		return
	}
	parent := filepath.Dir(dir)
	for _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != filepath.Dir(parent); _, err = os.Stat(parent) {
		parent = filepath.Dir(parent)
	}
	if r.writable(name+" does not exist, and its parent "+parent, parent) {
		r.warn(area, "mount it, if it was there before; else crud makes it when it starts", "%s does not exist", name)
	}
}
