package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const moveBatch = 50

// Places says where files are stored.
type Places struct {
	Files, Bytes             int64 // in Postgres
	ObjectFiles, ObjectBytes int64
}

// ReadPlaces counts the stored files of all accounts.
func ReadPlaces(ctx context.Context, db *postgres.Pool) (Places, error) {
	row, err := store.New(db.Unscoped()).FilePlaces(ctx)
	if err != nil {
		return Places{}, fmt.Errorf("count files: %w", err)
	}
	return Places{Files: row.ChunkFiles, Bytes: row.ChunkBytes, ObjectFiles: row.ObjectFiles, ObjectBytes: row.ObjectBytes}, nil
}

// Move moves the files of all accounts into the bucket, or into Postgres, and calls moved after each. Files are read while it
// runs, as before. It goes on where it was stopped. Files that are uploaded meanwhile go where the running processes store them.
func (f *Files) Move(ctx context.Context, toBucket bool, moved func(bytes int64)) error {
	if f.objects == nil {
		return config.Invalid("--file-store", "is missing", "name the bucket as s3://bucket/prefix")
	}
	after := store.FilesElsewhereParams{AreObjects: !toBucket, AfterID: uuid.Nil, AfterVersion: math.MinInt32, RowLimit: moveBatch}
	for {
		files, err := store.New(f.deps.Postgres.Unscoped()).FilesElsewhere(ctx, after)
		if err != nil {
			return fmt.Errorf("list files: %w", err)
		}
		for _, file := range files {
			after.AfterID, after.AfterVersion = file.LeadMagnetID, file.Version
			err := f.move(ctx, file, toBucket)
			if errors.Is(err, ErrGone) {
				continue // deleted meanwhile
			}
			if err != nil {
				return fmt.Errorf("move file of lead magnet %s: %w", file.LeadMagnetID, err)
			}
			moved(file.FileSize)
		}
		if len(files) < moveBatch {
			return nil
		}
	}
}

func (f *Files) move(ctx context.Context, file store.LeadMagnetFile, toBucket bool) error {
	return f.WithCopy(ctx, file, func(temp *os.File) error {
		if !toBucket {
			return f.moveToPostgres(ctx, file, temp)
		}
		object, err := f.Write(ctx, file.AccountID, temp, file.FileSize)
		if err != nil {
			return err
		}
		return f.deps.Postgres.Account(ctx, file.AccountID, func(tx pgx.Tx) error {
			n, err := store.New(tx).SetFileObject(ctx, store.SetFileObjectParams{ObjectID: *object, LeadMagnetID: file.LeadMagnetID, Version: file.Version})
			return orGone(n, err)
		})
	})
}

func (f *Files) moveToPostgres(ctx context.Context, file store.LeadMagnetFile, temp *os.File) error {
	return f.deps.Postgres.Account(ctx, file.AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).ClearFileObject(ctx, store.ClearFileObjectParams{LeadMagnetID: file.LeadMagnetID, Version: file.Version})
		if err := orGone(n, err); err != nil {
			return err
		}
		return insertChunks(ctx, tx, file.AccountID, file.LeadMagnetID, file.Version, io.NewSectionReader(temp, 0, file.FileSize))
	})
}

func orGone(rows int64, err error) error {
	if err == nil && rows == 0 {
		return ErrGone
	}
	return err
}

// WithCopy calls fn with a temporary copy of a stored file. The error is ErrGone if the file is not stored any more.
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
