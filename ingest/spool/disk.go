package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// disk is the spool's access to files. Tests replace it by one that fails.
type disk interface {
	open(path string) (source, error)
	list(path string) ([]fs.DirEntry, error)
	create(path string) (file, error)
	remove(path string) error
	rename(from, to string) error
	syncDir(path string) error
}

// source is a segment that is being read.
type source interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// file is a segment that is being written.
type file interface {
	WriteAt(b []byte, offset int64) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

type realDisk struct{}

func (realDisk) open(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // a nil *os.File in an interface would not be nil
	}
	return f, nil
}

func (realDisk) list(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (realDisk) create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (realDisk) remove(path string) error { return os.Remove(path) }

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

// load returns all bytes of a file. Bytes that could not be read are an error, never a shorter
// file.
func load(d disk, path string) ([]byte, error) {
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data := make([]byte, info.Size())
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("read %d of %d bytes of %s: %w", n, len(data), path, err)
	}
	return data, nil
}

// segmentNames returns the names of the files in a directory that look like segments, in order of
// their numbers. A directory that does not exist has none.
func segmentNames(d disk, dir string) ([]string, error) {
	entries, err := d.list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var names []string // in order: their numbers have a fixed width
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentExtension) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// moveInto renames a file into a directory, durably. It replaces no file there: a second one of the
// same name gets a number of its own.
func moveInto(d disk, path, dir string) (name string, err error) {
	stem := strings.TrimSuffix(filepath.Base(path), segmentExtension)
	name = stem + segmentExtension
	for n := 1; ; n++ {
		if _, err = os.Lstat(filepath.Join(dir, name)); err != nil {
			break
		}
		name = fmt.Sprintf("%s.%d%s", stem, n, segmentExtension)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := d.rename(path, filepath.Join(dir, name)); err != nil {
		return "", err
	}
	return name, errors.Join(d.syncDir(dir), d.syncDir(filepath.Dir(path)))
}

// makeDir creates a directory and its missing parents, and makes their names durable.
func makeDir(d disk, dir string) error {
	at := filepath.Clean(dir)
	above := []string{filepath.Dir(at)} // also if it is there: an earlier process may have ended before this
	for at = filepath.Dir(at); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = append(above, filepath.Dir(at))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range above {
		if err := d.syncDir(parent); err != nil &&
			!errors.Is(err, fs.ErrPermission) { // what may not be opened was not created here
			return err
		}
	}
	return nil
}
