package backup

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
)

// Check reads a backup, and compares the names and sizes of ClickHouse's files with its listing. It returns what is wrong with them. ClickHouse
// compares the checksums of its files when they are restored.
func (b *Backups) Check(ctx context.Context, m Manifest) (wrong []string, err error) {
	objects := make([]Object, 0, len(m.Postgres.Tables)+len(m.Files))
	for _, t := range m.Postgres.Tables {
		objects = append(objects, t.Object)
	}
	for _, f := range m.Files {
		objects = append(objects, Object{Name: fileName(f.ID), Bytes: f.Bytes, SHA256: f.SHA256})
	}
	for _, want := range objects {
		is, err := b.read(ctx, want.Name, io.Discard)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, want.Name+" is missing")
		case err != nil:
			return wrong, err
		case is != want:
			wrong = append(wrong, want.Name+" is not what was written")
		}
	}
	for _, s := range m.ClickHouse {
		found, err := b.checkShard(ctx, shardFolder(m.Name, s.ID), s)
		if wrong = append(wrong, found...); err != nil {
			return wrong, err
		}
	}
	if m.Base == "" {
		return wrong, nil
	}
	base, err := readManifest(ctx, b.place, m.Base)
	if errors.Is(err, ErrNotFound) {
		return append(wrong, "the backup "+m.Base+", on which it is based, is missing"), nil
	}
	if err != nil {
		return wrong, err
	}
	of, err := b.Check(ctx, base)
	return append(wrong, of...), err
}

// checkShard compares what is in the folder of a shard with the listing.
func (b *Backups) checkShard(ctx context.Context, folder string, s Shard) (wrong []string, err error) {
	r, err := b.place.open(ctx, s.Listing.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{s.Listing.Name + " is missing"}, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what failed
	}
	c := count(io.Discard)
	raw := io.TeeReader(r, c)
	want, unread := listed(raw)
	_, err = io.Copy(io.Discard, raw)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Listing.Name, err)
	}
	if c.object(s.Listing.Name) != s.Listing {
		return []string{s.Listing.Name + " is not what was written"}, nil
	}
	if unread != nil {
		return nil, fmt.Errorf("read %s: %w", s.Listing.Name, unread)
	}
	sizes, err := b.place.sizes(ctx, folder)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what failed
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch size, there := sizes[name]; {
		case !there:
			wrong = append(wrong, folder+"/"+name+" is missing")
		case size != want[name]:
			wrong = append(wrong, fmt.Sprintf("%s/%s has %d bytes, and %d were written", folder, name, size, want[name]))
		}
	}
	return wrong, nil
}

// listed reads ClickHouse's listing, and returns the files that it wrote to the place itself, with their sizes. Empty files are in the listing alone,
// several with the same content are one, and an incremental backup has of a file only what its base has not.
func listed(r io.Reader) (map[string]int64, error) {
	files := map[string]int64{}
	d := xml.NewDecoder(r)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller does
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "file" {
			continue
		}
		var f struct {
			Name    string `xml:"name"`
			Size    int64  `xml:"size"`
			UseBase bool   `xml:"use_base"`
			Base    *int64 `xml:"base_size"` // nil: all of it, with use_base
			Data    string `xml:"data_file"` // "": its own name
		}
		if err := d.DecodeElement(&f, &start); err != nil {
			return nil, err //nolint:wrapcheck // the caller does
		}
		switch {
		case f.Base != nil:
			f.Size -= *f.Base
		case f.UseBase:
			f.Size = 0
		}
		if f.Data == "" {
			f.Data = f.Name
		}
		if f.Size > 0 {
			files[f.Data] = f.Size
		}
	}
}
