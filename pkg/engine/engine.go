// Package engine runs real storage engines beside Lodestone: ClickHouse and PostgreSQL as child
// processes, a Kafka broker within the process. Nothing has to be installed for them by hand, and
// nothing of them outlives Lodestone. Set starts the ones that are not given by address.
package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
)

// Event tells of a child process that died, came back, or does not answer.
type Event = child.Event

// Runtime is what every engine needs from its surroundings.
type Runtime struct {
	// Log receives what a person should know. Required.
	Log *slog.Logger
	// Observe is told of every event of a child process, if not nil. It must not block.
	Observe func(Event)
	// Environment is more variables for child processes, as tests need them: "NAME=value".
	Environment []string
}

// ErrInUse says that a directory belongs to a process that runs.
var ErrInUse = errors.New("in use by another process")

// lockDir makes a directory and takes it for this process, for as long as the lock returned is
// held or the process lives. An error wraps ErrInUse and names the holder if there is one.
func lockDir(dir string, mode os.FileMode) (*flock.Flock, error) {
	if err := install.MakeDir(dir, mode); err != nil {
		return nil, explainFile(err)
	}
	path := filepath.Join(dir, "lock")
	lock := flock.New(path)
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, explainFile(err))
	}
	if !held {
		return nil, fmt.Errorf("%s is %w (%s): stop that one, or choose another directory with --data", dir, ErrInUse, holder(path))
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, explainFile(err)), lock.Unlock())
	}
	return lock, nil
}

func holder(path string) string {
	text, err := os.ReadFile(path)
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return "process " + pid
	}
	return "its number is not known"
}

// childEnvironment is what the engine's child processes are given.
func (r Runtime) childEnvironment() []string { return append(childEnvironment(), r.Environment...) }

// childEnvironment is what engines inherit: neither our own settings, some of which are secret,
// nor variables that would change what an engine does, nor a home with settings in it.
func childEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		for _, prefix := range []string{config.EnvPrefix + "_", "PG", "CLICKHOUSE_", "KAFKA_", "CLASSPATH=", "HOME="} {
			if strings.HasPrefix(v, prefix) {
				return true
			}
		}
		return false
	})
}
