package backup

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"
)

// keep returns which of the backups, the oldest first, are to stay: those whose state is not older than a time, the newest one, and all on which
// these are based.
func keep(all []Manifest, before time.Time) (kept []Manifest) {
	bases := map[string]struct{}{}
	for i, m := range slices.Backward(all) {
		_, isBase := bases[m.Name]
		if i == len(all)-1 || isBase || !m.PostgresAt.Before(before) {
			kept = append(kept, m)
			bases[m.Base] = struct{}{}
		}
	}
	return kept
}

// prune removes backups whose state is older than a time, the copies of files that no backup has any more, and what an older backup left that did
// not end. No backup may run.
//
// A backup without its manifest is none, so the manifest goes first: if prune is interrupted, no backup is left that lacks something.
func (b *Backups) prune(ctx context.Context, before time.Time) error {
	all, err := list(ctx, b.place)
	if err != nil {
		return err
	}
	names, err := b.place.folders(ctx)
	if err != nil {
		return err
	}
	kept, needed := keep(all, before), map[string]struct{}{}
	for _, m := range kept {
		needed[m.Name] = struct{}{}
		for _, f := range m.Files {
			needed[fileName(f.ID)] = struct{}{}
		}
	}
	for _, name := range names {
		began, err := time.Parse(nameForm, name)
		if _, ok := needed[name]; ok || err != nil || !began.Before(before) {
			continue
		}
		if err := b.place.remove(ctx, name+"/"+manifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := b.place.removeFolder(ctx, name); err != nil {
			return err
		}
		b.deps.Progress("removed the backup " + name)
	}
	files, err := b.place.sizes(ctx, filesFolder)
	if err != nil {
		return err
	}
	for file := range files {
		name := filesFolder + "/" + file
		if _, ok := needed[name]; ok {
			continue
		}
		if err := b.place.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
