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

// stopLeftServer stops a server that an earlier run left on the cluster without a record: its parent was killed before
// it could write one. PostgreSQL's pid file names the process. The start is retried until that process has ended. A pid
// file without a number is left by a server that was killed while it started; PostgreSQL would refuse to start until it
// is removed.
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
	// A server's working directory is its cluster; no other process that reuses the pid has it.
	cluster, err := filepath.EvalSymlinks(p.cluster)
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)) // "" if the process has ended or belongs to another user
	if dir != cluster {
		return nil
	}
	p.o.Log.Warn("stopping a PostgreSQL left over from an earlier run", "pid", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the left-over PostgreSQL (process %d): %w", pid, err)
	}
	return nil
}
