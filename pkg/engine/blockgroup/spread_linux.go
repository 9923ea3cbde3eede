package blockgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// topDir is FS_TOPDIR_FL of linux/fs.h, which `chattr +T` sets.
const topDir = 0x20000

func spread(dir string) (err error) {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a table that was dropped meanwhile
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	flags, err := unix.IoctlGetInt(int(d.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topDir == 0 {
		err = unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, flags|topDir)
	}
	switch {
	case err == nil, errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return nil // or a file system without such flags
	default:
		return fmt.Errorf("let %s spread its files: %w", dir, err)
	}
}
