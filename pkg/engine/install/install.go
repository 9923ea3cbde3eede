// Package install puts the engines' binaries into a cache directory, by the ordinary package
// clients (npm, Maven) from manifests and lock files that are part of the program, or finds
// binaries that the system already has.
package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Installer installs engines in a cache directory. Its methods may be called from several
// goroutines and several processes at once: one installs, the others wait for it.
type Installer struct {
	// Cache is the directory. DefaultCache gives the usual one.
	Cache string
	// Progress is called with a line for a person about every slow step. It may be nil.
	Progress func(line string)
	// Log receives details. Required.
	Log *slog.Logger
	// PackagedOnly ignores binaries of the system and always uses the packages.
	PackagedOnly bool
}

// DefaultCache is /var/cache/lodestone for root, whose engines run in part as another user and
// must be readable for it, else "lodestone" in the user's own cache directory.
func DefaultCache() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/lodestone", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory (or give --engine-cache): %w", err)
	}
	return filepath.Join(dir, "lodestone"), nil
}

// bundle is one set of files that is installed completely or not at all.
type bundle struct {
	name     string            // the directory's name begins with it
	files    map[string][]byte // what the package client reads; their hash names the directory
	size     int64             // bytes that must be free
	progress string            // the line for Progress at the start
	fetch    func(ctx context.Context, dir string) error
	patch    patch // of the fetched files
}

// marker is the last file written: a directory without it is an interrupted installation.
const marker = ".complete"

const lockPoll = 100 * time.Millisecond

// ensure returns the directory of a bundle, installed if it was not.
func (i *Installer) ensure(ctx context.Context, b bundle) (string, error) {
	sum := b.sum()
	dir := filepath.Join(i.Cache, b.name+"-"+sum[:12])
	if complete(dir, sum) {
		return dir, nil
	}
	if err := MakeDir(i.Cache, 0o755); err != nil {
		return "", fmt.Errorf("make the engine cache (--engine-cache names another place): %w", err)
	}
	lock := flock.New(dir + ".lock")
	held, err := lock.TryLock()
	if err == nil && !held {
		i.say("waiting for another process that installs " + b.name)
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return "", fmt.Errorf("lock the engine cache %s: %w", i.Cache, err)
	}
	defer func() { _ = lock.Unlock() }() // its end with the process is as good
	if complete(dir, sum) {
		return dir, nil
	}
	if err := i.install(ctx, b, dir, sum); err != nil {
		return "", fmt.Errorf("install %s into %s: %w", b.name, i.Cache, err)
	}
	return dir, nil
}

func (i *Installer) install(ctx context.Context, b bundle, dir, sum string) error {
	if err := requireFree(i.Cache, b.size); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range b.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	i.say(b.progress)
	begin := time.Now()
	if err := b.fetch(ctx, dir); err != nil {
		return err
	}
	if b.patch.do != nil {
		if err := b.patch.do(dir); err != nil {
			return err
		}
	}
	if err := readableByAll(dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, marker), []byte(sum), 0o644); err != nil {
		return err
	}
	i.Log.Info("installed engine", "engine", b.name, "took", time.Since(begin).Round(100*time.Millisecond))
	return nil
}

func (i *Installer) say(line string) {
	if i.Progress != nil {
		i.Progress(line)
	}
}

func (b bundle) sum() string {
	h := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json", "pom.xml"} {
		fmt.Fprintf(h, "%s %d\n", name, len(b.files[name]))
		h.Write(b.files[name])
	}
	h.Write([]byte(b.patch.name))
	return hex.EncodeToString(h.Sum(nil))
}

func complete(dir, sum string) bool {
	text, err := os.ReadFile(filepath.Join(dir, marker))
	return err == nil && string(text) == sum
}

// readableByAll undoes a strict umask: Postgres runs as another user when we are root.
func readableByAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if d.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		if mode == info.Mode().Perm() {
			return nil
		}
		return os.Chmod(path, mode)
	})
}

// lastLines shortens the output of a package client to its useful lines.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// ErrUnsupported means that there is no package of an engine for this machine.
var ErrUnsupported = errors.New("no package for this machine")
