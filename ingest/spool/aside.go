package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// tailExtension is that of files with the end of a write that was never acknowledged.
const tailExtension = ".tail"

// sweepEvery is how often the folder of damaged segments is searched for what is too old.
const sweepEvery = 10 * time.Minute

// sweep deletes damaged segments when they are older than --spool-max-age, until ctx ends: they may
// have personal data, which is kept no longer than that.
func (s *Spool) sweep(ctx context.Context, q *queue) {
	if s.config.MaxAge == 0 {
		return
	}
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.sweepFolder(filepath.Join(q.dir, damagedDir)); err != nil {
			s.deps.Log.Warn("cannot delete old files of the spool, will try again", "error", err)
		}
		q.countDamaged()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweepFolder deletes the files of a folder whose last write is older than that.
func (s *Spool) sweepFolder(dir string) error {
	entries, err := s.disk.list(dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); !strings.HasSuffix(name, segmentExtension) && !strings.HasSuffix(name, tailExtension) {
			continue // not ours
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !s.config.isOver(info.ModTime().UnixMilli(), time.Now()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err == nil {
			err = s.disk.remove(path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("delete %s: %w", path, err))
			continue
		}
		s.deps.Log.Error("deleted a damaged file that was in the spool for --spool-max-age",
			"file", path, "bytes", info.Size(), "max_age", s.config.MaxAge) // it may have had events that are nowhere else
	}
	return errors.Join(append(errs, s.disk.syncDir(dir))...)
}
