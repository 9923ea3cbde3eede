package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writable makes the directory of a setting, and returns a Problem if this user can make no files
// there: then starting again does not help. A disk that is full or fails is none.
func Writable(setting, dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = tryFile(dir)
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.EROFS),
		errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENAMETOOLONG):
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err // its text has a path that is the same or a part of it
		}
		return Invalid(setting, "is "+dir+", where no files can be written ("+err.Error()+")",
			"name a directory that the user of this process may write to")
	default:
		return nil
	}
}

// tryFile writes a file and removes it.
func tryFile(dir string) error {
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(filepath.Join(dir, filepath.Base(f.Name()))))
}
