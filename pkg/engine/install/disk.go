package install

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Free returns how many bytes an ordinary user can still write to the file system of a directory.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the types differ from system to system
}

func requireFree(dir string, need int64) error {
	free, err := Free(dir)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%d MB are free there and %d MB are needed: free some space or give --engine-cache a directory on another disk",
			free>>20, need>>20)
	}
	return nil
}
