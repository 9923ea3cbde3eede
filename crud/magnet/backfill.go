package magnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/file"
	"lodestone/crud/pdf"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	backfillBatch = 50
	backfillPause = time.Hour
	backfillRetry = time.Minute
)

// Backfill makes the pictures of files that have none yet, because they are older than pictures are, one
// file after the other; it readies the reader, so that the first upload need not wait; and it deletes the bytes of replaced
// files that are not read any more. Several
// processes may do it at once: what they make is the same, and is kept once.
func (m *Magnets) Backfill() service.Service {
	return service.Every("pictures of older files", backfillPause, backfillRetry, m.deps.Log, m.backfill)
}

func (m *Magnets) backfill(ctx context.Context) error {
	if err := discard(ctx, store.New(m.deps.Postgres.Unscoped()), nil); err != nil {
		return err
	}
	if err := m.deps.Reader.Prepare(ctx); err != nil {
		return err
	}
	for after := uuid.Nil; ; {
		files, err := store.New(m.deps.Postgres.Unscoped()).UnpicturedFiles(ctx, store.UnpicturedFilesParams{After: after, RowLimit: backfillBatch})
		if err != nil {
			return fmt.Errorf("look for files without pictures: %w", err)
		}
		if len(files) == 0 {
			return nil
		}
		for _, f := range files {
			after = f.LeadMagnetID
			if err := m.picture(ctx, f); err != nil {
				return err
			}
		}
	}
}

// picture makes and keeps the pictures of a stored file. A file that has none to give is noted, and not
// tried again.
func (m *Magnets) picture(ctx context.Context, f store.LeadMagnetFile) error {
	read, err := m.paint(ctx, f)
	if _, invalid := pdf.IsInvalid(err); invalid {
		read, err = content{}, nil // an older reader took it
	}
	if errors.Is(err, file.ErrGone) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return fmt.Errorf("make pictures of lead magnet %s: %w", f.LeadMagnetID, err)
	}
	kept := false
	err = m.deps.Postgres.Account(ctx, f.AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).LockMagnet(ctx, f.LeadMagnetID)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && row.FileVersion != f.Version {
			return nil // deleted or replaced meanwhile
		}
		if err != nil {
			return fmt.Errorf("lock lead magnet: %w", err)
		}
		now, err := store.New(tx).GetFileVersion(ctx, store.GetFileVersionParams{LeadMagnetID: f.LeadMagnetID, Version: f.Version})
		if err != nil {
			return fmt.Errorf("look whether the file has pictures: %w", err)
		}
		if now.Pictured {
			return nil // by another process: pages may show its pictures
		}
		kept = true
		return read.pictures.StoreForFile(ctx, tx, f.AccountID, f.LeadMagnetID, f.Version, read.outline)
	})
	if err != nil {
		return fmt.Errorf("keep pictures of lead magnet %s: %w", f.LeadMagnetID, err)
	}
	if !kept {
		return nil
	}
	m.deps.Log.Info("created pictures of an older file", "lead_magnet_id", f.LeadMagnetID, "pictures", len(read.pictures))
	return nil
}

// paint reads a stored file, from a temporary copy.
func (m *Magnets) paint(ctx context.Context, f store.LeadMagnetFile) (c content, err error) {
	err = m.deps.Files.WithCopy(ctx, f, func(temp *os.File) error {
		c, err = m.read(ctx, f.AccountID, temp)
		return err
	})
	return c, err
}
