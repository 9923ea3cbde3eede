// Package engine runs real storage engines beside Lodestone: ClickHouse and PostgreSQL as child
// processes, a Kafka broker within the process. None of them has to be installed by hand, and none
// outlives Lodestone. Set starts the ones that are not given by address.
package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/service"
)

// Event is an event of a child process: it died, restarted, or does not answer.
type Event = child.Event

// Runtime holds what every engine needs.
type Runtime struct {
	// Log receives what an operator should know. Required.
	Log *slog.Logger
	// Observe is called with every event of a child process, if not nil. It must not block.
	Observe func(Event)
	// Environment holds additional variables for child processes, for tests: "NAME=value".
	Environment []string
}

// ErrInUse means that a directory is locked by a running process.
var ErrInUse = errors.New("in use by another process")

// dirLock is the lock of a directory.
type dirLock struct{ file *flock.Flock }

// Unlock releases the directory, and leaves no file behind.
func (l *dirLock) Unlock() error {
	err := os.Remove(l.file.Path())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the directory is gone
	}
	return errors.Join(err, l.file.Unlock())
}

// Limits of the wait for a directory: a process that was killed holds it until the system has ended
// it.
const (
	lockWait = 2 * time.Second
	lockPoll = 20 * time.Millisecond
)

// lockDir creates a directory and locks it for this process, until the lock is released or the
// process ends. An error wraps ErrInUse and names the holder if there is one.
func lockDir(dir string, mode os.FileMode) (*dirLock, error) {
	if err := install.MakeDir(dir, mode); err != nil {
		return nil, explainFile(err)
	}
	path := filepath.Join(dir, "lock")
	lock, err := awaitLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, explainFile(err))
	}
	if lock == nil {
		return nil, fmt.Errorf("%s is %w (%s): stop that one, or choose another directory with --data",
			dir, ErrInUse, holder(path))
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, explainFile(err)), lock.Unlock())
	}
	return lock, nil
}

// awaitLock returns the lock of a file, or nil if another process holds it.
func awaitLock(path string) (*dirLock, error) {
	for begin := time.Now(); ; {
		lock := &dirLock{flock.New(path)}
		held, err := lock.file.TryLock()
		if err != nil {
			return nil, err
		}
		if held {
			ours, err := lock.file.Stat()
			if err != nil {
				return nil, errors.Join(err, lock.file.Unlock())
			}
			if there, err := os.Stat(path); err == nil && os.SameFile(ours, there) {
				return lock, nil
			}
			// The holder removed the file between our open and our lock.
			if err := lock.file.Unlock(); err != nil {
				return nil, err
			}
			continue
		}
		if time.Since(begin) > lockWait {
			return nil, nil
		}
		<-time.After(lockPoll)
	}
}

func holder(path string) string {
	text, err := os.ReadFile(path)
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return "process " + pid
	}
	return "its number is not known"
}

// childEnvironment is the environment of the engine's child processes.
func (r Runtime) childEnvironment() []string { return append(childEnvironment(), r.Environment...) }

// childEnvironment returns the environment that engines inherit: without our own settings, which
// include secrets, without variables that would change an engine's behaviour, and without a home
// directory with settings in it. Hashes of passwords stay, which files of ClickHouse's directory
// users.d may take from the environment.
func childEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "CLICKHOUSE_") && strings.HasSuffix(name, "_SHA256") {
			return false
		}
		for _, prefix := range []string{config.EnvPrefix + "_", "PG", "CLICKHOUSE_", "KAFKA_", "CLASSPATH=", "HOME="} {
			if strings.HasPrefix(v, prefix) {
				return true
			}
		}
		return false
	})
}

// part is one of several services that start and stop together.
type part struct {
	name    string
	service service.Service
}

// watch merges the failures of several services into one channel.
type watch struct {
	failed chan error
	end    chan struct{}
	wg     sync.WaitGroup
}

func watchAll(parts []part) *watch {
	w := &watch{failed: make(chan error, len(parts)), end: make(chan struct{})}
	for _, p := range parts {
		failed := p.service.Failed()
		w.wg.Go(func() {
			select {
			case err := <-failed:
				w.failed <- fmt.Errorf("%s: %w", p.name, err)
			case <-w.end:
			}
		})
	}
	return w
}

func (w *watch) stop() {
	close(w.end)
	w.wg.Wait()
}

// Observer registers a counter of events of the engines' processes and returns the function for
// Runtime.Observe.
func Observer(r prometheus.Registerer) (func(Event), error) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_engine_events_total",
		Help: "Events of embedded engine processes: started, died, restarted, unwell (running but not answering), well (answering again).",
	}, []string{"engine", "event"})
	if err := r.Register(events); err != nil {
		return nil, fmt.Errorf("register the engines' metrics: %w", err)
	}
	for _, name := range []string{"clickhouse", "postgres"} {
		for _, kind := range []child.Kind{child.Started, child.Died, child.Restarted, child.Unwell, child.Well} {
			events.WithLabelValues(name, string(kind))
		}
	}
	return func(e Event) { events.WithLabelValues(e.Name, string(e.Kind)).Inc() }, nil
}
