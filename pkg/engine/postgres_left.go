package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stopLeftServer asks a server that an earlier run left on the cluster to end, if its record was lost: whoever started it was killed
// before it could write it. PostgreSQL itself says which process it is. The start is tried again until that one has ended. A file
// without a number is what a server leaves that was killed while it started; PostgreSQL would refuse to start until it is removed.
func (p *Postgres) stopLeftServer() error {
	path := filepath.Join(p.cluster, "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("remove what a server left that was killed while it started: %w", err)
		}
		return nil
	}
	// A server's working directory is its cluster, which no other process has after the number was given to it.
	cluster, err := filepath.EvalSymlinks(p.cluster)
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)) // "" if the process has ended or is somebody else's
	if dir != cluster {
		return nil
	}
	p.o.Log.Warn("stopping a PostgreSQL left over from an earlier run", "pid", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the left-over PostgreSQL (process %d): %w", pid, err)
	}
	return nil
}
