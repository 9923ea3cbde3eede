package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir makes a directory, and those above it that are missing, with this mode. When we are root that is so whatever the umask is:
// Postgres then runs as another user, and has to pass. Directories that are there stay as they are.
func MakeDir(dir string, mode fs.FileMode) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, mode)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.MkdirAll(dir, mode)) // which tells what is there instead of a directory
	}
	if err := MakeDir(filepath.Dir(dir), mode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, mode); err != nil {
		if errors.Is(err, fs.ErrExist) { // somebody else was first
			return os.MkdirAll(dir, mode)
		}
		return err
	}
	return os.Chmod(dir, mode)
}
