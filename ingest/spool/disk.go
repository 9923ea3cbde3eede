package spool

import "os"

// disk is how the spool changes files. Tests put one in its place that fails.
type disk interface {
	create(path string) (file, error)
	remove(path string) error
	rename(from, to string) error
	syncDir(path string) error
}

// file is a segment that is being written.
type file interface {
	WriteAt(b []byte, offset int64) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

type realDisk struct{}

func (realDisk) create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err // a nil *os.File in an interface would not be nil
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
