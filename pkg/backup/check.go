package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Check reads every byte of a backup, and compares it with the checksums. It returns what is wrong,
// in the order of names.
func (b *Backups) Check(ctx context.Context, m Manifest) (wrong []string, err error) {
	var want []Object
	for _, s := range m.ClickHouse {
		sums, found, err := b.readSums(ctx, s)
		if err != nil {
			return nil, err
		}
		want, wrong = append(want, sums...), append(wrong, found...)
	}
	for _, t := range m.Postgres.Tables {
		want = append(want, t.Object)
	}
	for _, f := range m.Files {
		want = append(want, Object{Name: fileName(m.Name, f.ID), SHA256: f.SHA256})
	}
	found, err := b.compare(ctx, want)
	return append(wrong, found...), err
}

// compare reads objects, several at once, and returns which of them are not what was written.
func (b *Backups) compare(ctx context.Context, want []Object) ([]string, error) {
	wrong := make([]string, len(want))
	err := each(ctx, func(ctx context.Context, do func(func() error)) error {
		for i, o := range want {
			do(func() error {
				is, err := b.read(ctx, o.Name, io.Discard)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					wrong[i] = o.Name + " is missing"
				case err != nil:
					return err
				case is.SHA256 != o.SHA256:
					wrong[i] = o.Name + " is not what was written"
				}
				return nil
			})
		}
		return ctx.Err()
	})
	return slices.DeleteFunc(wrong, func(line string) bool { return line == "" }), err
}

// writeSums writes the SHA-256 of each file that ClickHouse wrote to a shard's folder, in the form
// of sha256sum: ClickHouse compares none when it restores a backup from a directory.
func (b *Backups) writeSums(ctx context.Context, folder string) (o Object, err error) {
	sizes, err := b.place.sizes(ctx, folder)
	if err != nil {
		return o, err
	}
	names := slices.Sorted(maps.Keys(sizes))
	sums := make([]Object, len(names))
	err = each(ctx, func(ctx context.Context, do func(func() error)) error {
		for i, name := range names {
			do(func() (err error) {
				sums[i], err = b.read(ctx, folder+"/"+name, io.Discard)
				return err
			})
		}
		return ctx.Err()
	})
	if err != nil {
		return o, err
	}
	return b.place.create(ctx, folder+".sha256", func(w io.Writer) error {
		for i, name := range names {
			if _, err := fmt.Fprintf(w, "%s  %s/%s\n", sums[i].SHA256, path.Base(folder), name); err != nil {
				return err
			}
		}
		return nil
	})
}

// readSums returns the files of a shard with their checksums, or what is wrong with the list of
// them.
func (b *Backups) readSums(ctx context.Context, s Shard) (files []Object, wrong []string, err error) {
	var text bytes.Buffer
	is, err := b.read(ctx, s.Sums.Name, &text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []string{s.Sums.Name + " is missing"}, nil
	case err != nil:
		return nil, nil, err
	case is != s.Sums:
		return nil, []string{s.Sums.Name + " is not what was written"}, nil
	}
	for line := range strings.Lines(text.String()) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return nil, nil, fmt.Errorf("%s has a line that is no checksum", s.Sums.Name)
		}
		files = append(files, Object{Name: path.Dir(s.Sums.Name) + "/" + name, SHA256: sum})
	}
	return files, nil, nil
}

// comparedAtOnce is how many files are read at once. A part of a table is a dozen small ones.
const comparedAtOnce = 8

// each calls fn with a function that runs others, several at once, and waits for all of them. The
// first error ends them.
func each(ctx context.Context, fn func(ctx context.Context, do func(func() error)) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(comparedAtOnce)
	listed := fn(ctx, group.Go)
	return errors.Join(group.Wait(), listed)
}

// read copies an object, and returns what it is.
func (b *Backups) read(ctx context.Context, name string, to io.Writer) (o Object, err error) {
	r, err := b.place.open(ctx, name)
	if err != nil {
		return o, err
	}
	c := count(to)
	_, err = io.Copy(c, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return o, fmt.Errorf("read %s: %w", name, err)
	}
	return c.object(name), nil
}
