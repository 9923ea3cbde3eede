package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lodestone/pkg/engine/install"
)

// owner is the user that PostgreSQL runs as when we are root, since it refuses to run as root. A
// nil owner is the current user: every method then does the plain thing.
type owner struct {
	uid, gid int
}

// OwnerName is the user of the system that servers run as which refuse to run as root.
const OwnerName = "nobody"

// serverOwner returns nil unless we are root.
func serverOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(OwnerName)
	if err != nil {
		return nil, fmt.Errorf(
			"PostgreSQL does not run as root, and the user %s that it would run as does not exist (start lodestone as an ordinary user, or give --postgres-url): %w", OwnerName, err)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	return &owner{uid: uid, gid: gid}, nil
}

// command returns a command that runs as the owner.
func (o *owner) command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(childEnvironment(), "LC_ALL=C", "TZ=UTC")
	if o != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}}
	}
	return cmd
}

// give makes the owner own a file or directory.
func (o *owner) give(path string) error {
	if o == nil {
		return nil
	}
	return os.Chown(path, o.uid, o.gid)
}

// reaches returns an error that names the first directory on the way to path, or path itself, that
// the owner may not traverse.
func (o *owner) reaches(path string) error {
	if o == nil {
		return nil
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if !o.passes(info) {
			return fmt.Errorf("the user %s, whom PostgreSQL runs as when lodestone is started by root, may not enter %s",
				OwnerName, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (o *owner) passes(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	mode := info.Mode().Perm()
	switch {
	case ok && int(stat.Uid) == o.uid:
		return mode&0o100 != 0
	case ok && int(stat.Gid) == o.gid:
		return mode&0o010 != 0
	}
	return mode&0o001 != 0
}

const (
	// elsewhere is the parent of the owner's data when it cannot reach the data directory.
	elsewhere = "/var/lib/lodestone"
	// elsewhereFile, in the data directory, names the place.
	elsewhereFile = "location"
)

// home returns the directory, created if necessary, in which the owner stores its data: a directory
// below dir, or, when dir lies where the owner cannot go (below /root, for instance), one of a
// random name below /var/lib/lodestone that dir/location names from then on.
func (o *owner) home(dir string, log *slog.Logger) (string, error) {
	home := filepath.Join(dir, "cluster")
	if o == nil {
		return home, explainFile(os.MkdirAll(home, 0o700))
	}
	pointer := filepath.Join(dir, elsewhereFile)
	text, err := os.ReadFile(pointer)
	switch {
	case err == nil:
		home = strings.TrimSpace(string(text))
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	default:
		if blocked := o.reaches(dir); blocked != nil {
			home = filepath.Join(elsewhere, rand.Text())
			log.Warn("PostgreSQL keeps its data outside the data directory", "reason", blocked, "directory", home)
			if err := install.MakeDir(elsewhere, 0o711); err != nil {
				return "", explainFile(err)
			}
			if err := writeFile(pointer, []byte(home+"\n")); err != nil {
				return "", explainFile(err)
			}
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", explainFile(err)
	}
	if err := o.give(home); err != nil {
		return "", err
	}
	if err := o.reaches(home); err != nil {
		return "", fmt.Errorf(
			"%w: choose another directory with --data, start lodestone as an ordinary user, or give --postgres-url", err)
	}
	return home, nil
}

// How RemoveDir tries.
const (
	removeTimeout = 10 * time.Second
	removePause   = 10 * time.Millisecond
)

// RemoveDir removes the directory of an engine that has ended, with everything in it. After
// PostgreSQL or its parent was killed, its other processes notice a little later, and may still
// create a file in a directory that is being emptied.
func RemoveDir(dir string) error {
	for begin := time.Now(); ; {
		if err := os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) || time.Since(begin) > removeTimeout {
			return err
		}
		<-time.After(removePause)
	}
}

// ServerCommand returns a command that runs in dir as the user of PostgreSQL servers: for tests
// that start others beside one.
func ServerCommand(dir, program string, args ...string) (*exec.Cmd, error) {
	o, err := serverOwner()
	if err != nil {
		return nil, err
	}
	return o.command(dir, program, args...), nil
}

// MakeServerDir creates a directory that this user owns.
func MakeServerDir(dir string) error {
	o, err := serverOwner()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return o.give(dir)
}
