package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
)

// stage is the part of a place that ClickHouse writes and reads. Only a staged place has to do anything: others are reached by the server itself.
type stage interface {
	// server returns a folder as ClickHouse reaches it.
	server(name string) (clickhouse.BackupPlace, error)
	// bring makes a folder readable for ClickHouse. With listing, only what it reads of the base of a backup.
	bring(ctx context.Context, name string, listing bool) error
	// take stores what ClickHouse wrote to a folder.
	take(ctx context.Context, name string) error
	// clear removes what the others left on this machine.
	clear() error
}

// reached is a stage that ClickHouse reaches by itself.
type reached struct{}

func (reached) bring(context.Context, string, bool) error { return nil }
func (reached) take(context.Context, string) error        { return nil }
func (reached) clear() error                              { return nil }

// stagedPlace is a place in a bucket that ClickHouse does not reach: the library which `lodestone up` runs cannot back up to a bucket. It writes to a
// directory of this machine and reads from there; this process copies the files. The objects have the names that ClickHouse would give them, so
// either way restores what the other one wrote.
type stagedPlace struct {
	bucketPlace
	dir string // of the server's setting backups.allowed_path
}

// stagedCopies is how many files are copied at once. A part of a table is a dozen small ones.
const stagedCopies = 8

func (s stagedPlace) root() string { return filepath.Join(s.dir, "staged") }

func (s stagedPlace) folder(name string) string {
	return filepath.Join(s.root(), filepath.FromSlash(name))
}

func (s stagedPlace) server(name string) (clickhouse.BackupPlace, error) {
	return clickhouse.BackupPlace{Path: s.folder(name)}, nil
}

func (s stagedPlace) clear() error {
	if err := os.RemoveAll(s.root()); err != nil {
		return fmt.Errorf("remove the files that were copied to or from the bucket: %w", err)
	}
	return nil
}

func (s stagedPlace) take(ctx context.Context, name string) error {
	root := s.folder(name)
	err := each(ctx, func(ctx context.Context, do func(func() error)) error {
		return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			file, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			do(func() error {
				key := s.at.Prefix + name + "/" + filepath.ToSlash(file)
				_, err := s.client.FPutObject(ctx, s.at.Bucket, key, path, minio.PutObjectOptions{PartSize: partSize, NumThreads: 1})
				return err
			})
			return ctx.Err()
		})
	})
	if err != nil {
		return fmt.Errorf("copy ClickHouse's backup to the bucket: %w", err)
	}
	return nil
}

func (s stagedPlace) bring(ctx context.Context, name string, listing bool) error {
	prefix := s.at.Prefix + name + "/"
	options := minio.ListObjectsOptions{Prefix: prefix, Recursive: true}
	if listing {
		options = minio.ListObjectsOptions{Prefix: prefix + listingName}
	}
	err := each(ctx, func(ctx context.Context, do func(func() error)) error {
		for o := range s.client.ListObjects(ctx, s.at.Bucket, options) {
			if o.Err != nil {
				return o.Err
			}
			file := strings.TrimPrefix(o.Key, prefix)
			if !filepath.IsLocal(filepath.FromSlash(file)) {
				return fmt.Errorf("%s is no file of a backup", o.Key)
			}
			do(func() error {
				return s.client.FGetObject(ctx, s.at.Bucket, o.Key, filepath.Join(s.folder(name), filepath.FromSlash(file)), minio.GetObjectOptions{})
			})
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("copy ClickHouse's backup from the bucket: %w", err)
	}
	return nil
}

// each calls fn with a function that runs others, several at once, and waits for all of them. The first error ends them.
func each(ctx context.Context, fn func(ctx context.Context, do func(func() error)) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(stagedCopies)
	listed := fn(ctx, group.Go)
	return errors.Join(group.Wait(), listed)
}
