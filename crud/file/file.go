// Package file receives files that requests carry, and stores the bytes of documents: as chunks in
// Postgres, or as objects of an S3-compatible store.
//
// Postgres decides what exists. An object is on record (file_objects) before it is written, and a
// file takes it in the transaction that makes the version. So a process that is killed leaves at
// most an object that no file uses. A sweep removes those, and those of deleted and discarded
// versions: it first moves them from file_objects to file_removals, which the foreign key of a file
// that takes the object forbids.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/blob"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// ErrGone says that a file, or the version of it, is not stored any more.
var ErrGone = errors.New("the file is not stored any more")

const (
	chunkBytes = 1 << 20
	retryAfter = 5 * time.Second
	// unusedAge is longer than an upload takes from the record of its object to its version.
	unusedAge    = time.Hour
	sweepPause   = time.Hour
	sweepRetry   = time.Minute
	removalBatch = 100
)

// Deps are the dependencies of files. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Log      *slog.Logger
}

// Files stores files and reads them. It is safe for concurrent use.
type Files struct {
	*service.Loop
	deps    Deps
	objects *objects // nil: no store is set
}

// New returns the files of a database. It does not connect.
func New(c Config, d Deps) (*Files, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	f := &Files{deps: d}
	if at, ok := blob.ParseLocation(c.Store); ok {
		client, err := c.S3.Open()
		if err != nil {
			return nil, err
		}
		f.objects = &objects{client: client, at: at}
	}
	sweeps := service.Every("objects of files", sweepPause, sweepRetry, d.Log, f.Sweep)
	f.Loop = service.NewLoop("files", func(ctx context.Context, ready func()) error {
		if err := f.check(ctx); err != nil {
			return err
		}
		if err := sweeps.Start(ctx); err != nil {
			return err
		}
		ready()
		<-ctx.Done()
		return sweeps.Stop(context.WithoutCancel(ctx))
	})
	return f, nil
}

// check returns what is wrong with the settings, compared with what is stored. What cannot be asked
// now is logged.
func (f *Files) check(ctx context.Context) error {
	if f.objects != nil {
		exists, err := f.objects.exists(ctx)
		if err != nil {
			f.deps.Log.Warn("cannot reach the bucket of files; its files cannot be read until it answers", "error", err)
		} else if !exists {
			return config.Invalid("--file-store", "names the bucket "+f.objects.at.Bucket+
				", which does not exist or is not yours", "create it, or name another one")
		}
		return nil
	}
	inBucket, err := store.New(f.deps.Postgres.Unscoped()).CountFileObjects(ctx)
	if err != nil {
		f.deps.Log.Warn("cannot find out where files are stored", "error", err)
		return nil // Postgres may be away for a time, which is no reason to stop
	}
	if inBucket > 0 {
		return config.Invalid("--file-store", fmt.Sprintf("is missing, and %d files are in a bucket",
			inBucket), "name the bucket")
	}
	return nil
}

// Write writes the bytes of a file of an account to where new files are stored, and returns the
// object that has them, or nil if Insert is to store them. An object that is not inserted within an
// hour is removed. Errors are problems (503) if the store cannot be reached.
func (f *Files) Write(ctx context.Context, account uuid.UUID, from io.ReaderAt,
	size int64) (object *uuid.UUID, err error) {
	if f.objects == nil {
		return nil, nil
	}
	id := uuid.New()
	err = f.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
		return store.New(tx).InsertFileObject(ctx, store.InsertFileObjectParams{ID: id, AccountID: account})
	})
	if err != nil {
		return nil, fmt.Errorf("record object of file: %w", err)
	}
	if err := f.objects.put(ctx, id, io.NewSectionReader(from, 0, size), size); err != nil {
		return nil, err
	}
	return &id, nil
}

// Insert adds a version of a file, whose bytes Write has written to its object. If it has none,
// they are stored here.
func (f *Files) Insert(ctx context.Context, tx pgx.Tx, version store.InsertFileParams, from io.ReaderAt) error {
	if err := store.New(tx).InsertFile(ctx, version); err != nil {
		return fmt.Errorf("store file: %w", err)
	}
	if version.ObjectID != nil {
		return nil
	}
	return insertChunks(ctx, tx, version.AccountID, version.LeadMagnetID, version.Version,
		io.NewSectionReader(from, 0, version.FileSize))
}

func insertChunks(ctx context.Context, tx pgx.Tx, account, magnet uuid.UUID, version int32, from io.Reader) error {
	chunk := make([]byte, chunkBytes)
	for number := int32(0); ; number++ {
		n, err := io.ReadFull(from, chunk)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read received file: %w", err)
		}
		if n == 0 {
			return nil
		}
		err = store.New(tx).InsertChunk(ctx, store.InsertChunkParams{LeadMagnetID: magnet, Version: version, Number: number,
			AccountID: account, Bytes: chunk[:n]})
		if err != nil {
			return fmt.Errorf("store chunk of file: %w", err)
		}
	}
}

// Sweep removes objects that no file uses. Any number of processes may sweep.
func (f *Files) Sweep(ctx context.Context) error { return f.sweep(ctx, unusedAge) }

func (f *Files) sweep(ctx context.Context, age time.Duration) error {
	if f.objects == nil {
		return nil
	}
	q := store.New(f.deps.Postgres.Unscoped())
	if _, err := q.ReleaseFileObjects(ctx, age.Seconds()); err != nil {
		return fmt.Errorf("look for unused objects of files: %w", err)
	}
	for {
		removals, err := q.FileRemovals(ctx, removalBatch)
		if err != nil {
			return fmt.Errorf("list unused objects of files: %w", err)
		}
		for _, id := range removals {
			if err := f.objects.remove(ctx, id); err != nil {
				return err
			}
			if err := q.DeleteFileRemoval(ctx, id); err != nil {
				return fmt.Errorf("note the removal of an object: %w", err)
			}
		}
		if len(removals) < removalBatch {
			return nil
		}
	}
}

// unavailable is the problem of a store that cannot be reached.
func unavailable(doing string, err error) error {
	return problem.New(problem.Unavailable, "The files cannot be reached at the moment. Try again later.").
		Because(fmt.Errorf("%s: %w", doing, err)).RetryAfter(retryAfter)
}

// WithCopy calls fn with a temporary copy of a stored file. The error is ErrGone if the file is not
// stored any more.
func (f *Files) WithCopy(ctx context.Context, file store.LeadMagnetFile, fn func(temp *os.File) error) error {
	temp, err := os.CreateTemp("", "lodestone-picture-*")
	if err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name())
	}()
	content := f.Open(ctx, file)
	defer content.Close()
	if _, err := io.Copy(temp, content); err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	return fn(temp)
}
