package machine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Disks are directories with a file system of their own, so that they can be filled up without
// harm to anything else. That takes root and a loop device; without, they are plain directories
// that cannot be filled.
type Disks struct {
	Dir     string
	Wanted  bool // else they are plain directories
	Log     *slog.Logger
	mounted []string
}

// Mount creates a directory of so many bytes.
func (d *Disks) Mount(name, at string, size int64) error {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	if !d.Wanted {
		return nil
	}
	image := filepath.Join(d.Dir, name+".img")
	// Space is taken only as it is used.
	err := run("truncate", "-s", strconv.FormatInt(size, 10), image)
	if err == nil {
		err = run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", image)
	}
	if err == nil {
		err = run("mount", "-o", "loop", image, at)
	}
	if err != nil {
		d.Log.Info("this disk cannot be filled: a file system of its own takes root and a loop device", "disk", name, "error",
			err)
		return nil
	}
	d.mounted = append(d.mounted, at)
	return nil
}

// CanFill reports whether a directory is a disk of its own.
func (d *Disks) CanFill(at string) bool { return slices.Contains(d.mounted, at) }

// Fill takes all free space but so many bytes. Empty removes the file that takes it.
func (d *Disks) Fill(at string, leave int64) error {
	filler := filepath.Join(at, "filler")
	var space syscall.Statfs_t
	if err := syscall.Statfs(at, &space); err != nil {
		return err
	}
	free := int64(space.Bavail) * int64(space.Bsize) //nolint:unconvert // of another type on other systems
	if leave > 0 {
		if free <= leave {
			return fmt.Errorf("the disk has only %d bytes left", free)
		}
		return run("fallocate", "-l", strconv.FormatInt(free-leave, 10), filler)
	}
	_ = run("fallocate", "-l", strconv.FormatInt(free*99/100, 10), filler) // the rest does without it
	// It fails when the disk is full, as intended.
	_ = run("dd", "if=/dev/zero", "of="+filler, "oflag=append", "conv=notrunc", "bs=4k", "status=none")
	info, err := os.Stat(filler)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.New("the disk cannot be filled")
	}
	return nil
}

// Empty gives back what Fill took.
func (d *Disks) Empty(at string) error { return os.Remove(filepath.Join(at, "filler")) }

// Unmount ends every disk.
func (d *Disks) Unmount() error {
	var errs []error
	for _, at := range d.mounted {
		errs = append(errs, run("umount", at))
	}
	d.mounted = nil
	return errors.Join(errs...)
}

func run(name string, args ...string) error {
	if output, err := exec.Command(name, args...).CombinedOutput(); err != nil { //nolint:noctx // quick
		return fmt.Errorf("%s: %w: %s", name, err, output)
	}
	return nil
}
