package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeDir creates a directory and its missing parents with this mode. As root it sets the mode
// regardless of the umask: Postgres then runs as another user, and must be able to traverse them.
// Existing directories stay as they are.
func MakeDir(dir string, mode fs.FileMode) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, mode)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.MkdirAll(dir, mode)) // whose error names what is there instead of a directory
	}
	if err := MakeDir(filepath.Dir(dir), mode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, mode); err != nil {
		if errors.Is(err, fs.ErrExist) { // another process was first
			return os.MkdirAll(dir, mode)
		}
		return err
	}
	return os.Chmod(dir, mode)
}
