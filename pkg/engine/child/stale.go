package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A record file holds a child's pid and, on a second line, its identity.

func writeRecord(path string, pid int) error {
	id, err := identity(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it ended already, which whoever waits for it tells
	}
	if err != nil {
		return fmt.Errorf("identify process %d: %w", pid, err)
	}
	return os.WriteFile(path, []byte(strconv.Itoa(pid)+"\n"+id+"\n"), 0o600)
}

func removeRecord(path string) {
	// A record left behind names a process that is gone, which the next start sees.
	_ = os.Remove(path)
}

// staleGrace is how long a left-over child may take to end by itself before SIGKILL, which would
// leave its own children behind.
const staleGrace = 10 * time.Second

// StopStale ends the child of a name that an earlier run left in a directory, if it still runs.
// Start does the same; a caller that chooses ports stops the child first, so that its ports are
// free.
func StopStale(ctx context.Context, dir, name string, log *slog.Logger) error {
	return stopStale(ctx, recordPath(dir, name), name, log)
}

// stopStale ends the child that an earlier run recorded, if the same process still runs. The caller
// holds the lock of the data directory, so no one else can be using that child.
func stopStale(ctx context.Context, path, name string, log *slog.Logger) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the record of an earlier %s: %w", name, err)
	}
	first, second, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 1 {
		removeRecord(path) // torn by a crash
		return nil
	}
	// The handle is taken before the identity is compared: it cannot move to another process.
	process, err := os.FindProcess(pid)
	if err != nil {
		removeRecord(path)
		return nil
	}
	defer func() { _ = process.Release() }()
	same := func() bool {
		id, err := identity(pid)
		return err == nil && id == strings.TrimSpace(second)
	}
	if !same() {
		removeRecord(path)
		return nil
	}
	log.Warn("stopping an engine left over from an earlier run", "engine", name, "pid", pid)
	begin, signalled := time.Now(), syscall.Signal(0)
	for same() {
		want := syscall.SIGINT
		if time.Since(begin) > staleGrace {
			want = syscall.SIGKILL
		}
		if want != signalled {
			if err := process.Signal(want); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("stop the left-over %s (process %d): %w", name, pid, err)
			}
			signalled = want
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop the left-over %s (process %d): %w", name, pid, context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
	removeRecord(path)
	return nil
}

func recordPath(dir, name string) string { return filepath.Join(dir, name+".pid") }
