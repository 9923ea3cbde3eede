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

// sweepEvery is the time between two looks at what lies aside.
const sweepEvery = 10 * time.Minute

// sweep deletes what lies aside for longer than the maximum age, now and then, until ctx ends:
// files that an operator has sent, and damaged ones. The newest record of a file was written when
// the file was changed last, also if it was moved since.
func (s *Spool) sweep(ctx context.Context) {
	if s.config.MaxAge == 0 {
		return
	}
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		for _, q := range []*queue{s.queue.Load(), s.refused.Load()} {
			for _, folder := range []string{sentDir, damagedDir} {
				if err := s.sweepFolder(filepath.Join(q.dir, folder)); err != nil {
					s.deps.Log.Warn("cannot delete old files of the spool, will try again", "error", err)
				}
			}
			q.countDamaged()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sweepFolder deletes the files of a folder that are too old. A folder that does not exist has
// none.
func (s *Spool) sweepFolder(dir string) error {
	entries, err := s.disk.list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	var errs []error
	removed := false
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
		removed = true
		logged := s.deps.Log.Info
		if filepath.Base(dir) == damagedDir {
			logged = s.deps.Log.Error // it may have had events that are nowhere else
		}
		logged("a file that lay aside in the spool for --spool-max-age is deleted",
			"file", path, "bytes", info.Size(), "max_age", s.config.MaxAge)
	}
	if removed {
		errs = append(errs, s.disk.syncDir(dir))
	}
	return errors.Join(errs...)
}
