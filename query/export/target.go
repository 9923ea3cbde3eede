package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Target is where an archive lies. What has been put is there completely, also after a crash, or
// not at all.
type Target interface {
	// Check returns what is wrong with the target, or nil.
	Check(ctx context.Context) error
	// Read returns what was put under a name, or an error that is fs.ErrNotExist.
	Read(ctx context.Context, name string) ([]byte, error)
	// Put takes a closed file of Temp, and replaces what was under the name before.
	Put(ctx context.Context, name, path string) error
	// Temp returns the directory for files that are being written.
	Temp() string
}

// directory is a Target on a disk.
type directory struct{ root string }

// tempDir is hidden from programs that read all files of the archive.
const tempDir = ".tmp"

// Temp implements Target: a file can only be renamed on its own disk.
func (d directory) Temp() string { return filepath.Join(d.root, tempDir) }

// Check implements Target. It removes what a run that was killed left.
func (d directory) Check(context.Context) error {
	if err := errors.Join(os.RemoveAll(d.Temp()), os.MkdirAll(d.Temp(), 0o750)); err != nil {
		return fmt.Errorf("prepare the archive: %w", err)
	}
	return nil
}

// Read implements Target.
func (d directory) Read(_ context.Context, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(d.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	return text, nil
}

// Put implements Target.
func (d directory) Put(_ context.Context, name, path string) error {
	final := filepath.Join(d.root, filepath.FromSlash(name))
	if err := makeDirs(d.root, filepath.Dir(final)); err != nil {
		return fmt.Errorf("write %s: %w", final, err)
	}
	if err := errors.Join(syncPath(path), os.Rename(path, final), syncPath(filepath.Dir(final))); err != nil {
		return fmt.Errorf("write %s: %w", final, err)
	}
	return nil
}

// makeDirs makes a directory below root, with those above it, so that they survive a crash.
func makeDirs(root, dir string) error {
	if _, err := os.Stat(dir); err == nil || dir == root {
		return err
	}
	if err := makeDirs(root, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o750); err != nil && !os.IsExist(err) {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// put puts a text under a name.
func (a *Archive) put(ctx context.Context, name string, text []byte) error {
	temp, err := a.temp(func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return a.target.Put(ctx, name, temp)
}

// temp returns the path of a closed temporary file, which exists if there is no error.
func (a *Archive) temp(write func(f *os.File) error) (path string, err error) {
	f, err := os.CreateTemp(a.target.Temp(), "lodestone-export-*")
	if err != nil {
		return "", fmt.Errorf("write temporary file: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
