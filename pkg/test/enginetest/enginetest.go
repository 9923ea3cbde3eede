// Package enginetest gives tests real engines: ClickHouse, PostgreSQL and a Kafka broker, started
// on free ports in temporary directories when a test first asks for one, shared by the tests of
// one package, and gone when they have run.
//
// A package that uses it says so once:
//
//	func TestMain(m *testing.M) { enginetest.Main(m) }
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/service"
	"lodestone/pkg/test"
)

// Timeout bounds the wait for a result that must come. It is generous, for machines under load: a
// test that exceeds it has failed, and it measures no speed.
const Timeout = 5 * time.Minute

// ClickHouseMemory limits the memory of a test's ClickHouse: several packages are tested at once.
const ClickHouseMemory = 1 << 30

const (
	startTimeout = 10 * time.Minute // the first start on a machine downloads
	stopTimeout  = 3 * time.Minute
)

// shared is the one set of engines of a test process. It is global because all tests of the process
// share the engines.
var shared = &set{parts: map[string]*part{}}

type set struct {
	mu    sync.Mutex
	dir   string
	parts map[string]*part
	order []*part
}

// part is one engine. Its own lock keeps tests that need another engine from waiting for it.
type part struct {
	mu      sync.Mutex
	service service.Service // nil before the start
	err     error           // of the start
}

// Main runs a package's tests, stops the engines that they started, fails if goroutines are left
// over, and ends the process.
func Main(m *testing.M, options ...goleak.Option) {
	test.LeakMain(runner{m}, options...)
}

type runner struct{ m *testing.M }

// Run implements goleak.TestingM.
func (r runner) Run() int {
	code := r.m.Run()
	atEnd.run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the engines of the tests:", err)
		return max(code, 1)
	}
	return code
}

// atEnd holds the functions to run after the tests of the process.
var atEnd ending

type ending struct {
	mu  sync.Mutex
	fns []func()
}

// AtEnd runs fn when the tests of the package have run, before the engines stop: it closes what
// tests share. The last one given runs first.
func AtEnd(fn func()) {
	atEnd.mu.Lock()
	defer atEnd.mu.Unlock()
	atEnd.fns = append(atEnd.fns, fn)
}

func (e *ending) run() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, fn := range slices.Backward(e.fns) {
		fn()
	}
}

func (s *set) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for _, p := range slices.Backward(s.order) {
		if p.service != nil {
			errs = append(errs, p.service.Stop(ctx))
		}
	}
	if s.dir != "" {
		errs = append(errs, engine.RemoveDir(s.dir))
	}
	return errors.Join(errs...)
}

// get returns the shared engine of a name, started by the first test that asks.
func get[E service.Service](t testing.TB, name string, create func(dir string) E) E {
	t.Helper()
	p, dir, err := shared.part(name)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.service == nil && p.err == nil {
		engine := create(filepath.Join(dir, name))
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if p.err = engine.Start(ctx); p.err == nil {
			p.service = engine
		}
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.service.(E)
}

func (s *set) part(name string) (_ *part, dir string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		if s.dir, err = tempDir(); err != nil {
			return nil, "", err
		}
	}
	p := s.parts[name]
	if p == nil {
		p = &part{}
		s.parts[name] = p
		s.order = append(s.order, p)
	}
	return p, s.dir, nil
}

// tempDir creates a directory that other users may traverse: PostgreSQL runs as another user if the
// test runs as root.
func tempDir() (string, error) {
	dir, err := os.MkdirTemp("", "lodestone-test-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// PackageDir returns a temporary directory that the tests of a package share; it is removed after
// the last one.
func PackageDir() (string, error) {
	_, dir, err := shared.part("")
	return dir, err
}

// Dir returns a temporary directory of the test that PostgreSQL can use. It cannot use t.TempDir()
// if root runs the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := tempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.RemoveDir(dir); err != nil {
			t.Errorf("remove the test's directory: %v", err)
		}
	})
	return dir
}

// repeat calls do until it returns false or the limit has passed, and returns the last error.
func repeat(limit time.Duration, do func() (again bool, err error)) error {
	for begin := time.Now(); ; {
		if again, err := do(); !again || time.Since(begin) >= limit {
			return err
		}
	}
}

// Runtime logs warnings and errors to the standard error of the test process.
func Runtime() engine.Runtime {
	return engine.Runtime{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
}

// Installer uses the cache that `lodestone up` uses, or the one that LODESTONE_ENGINE_CACHE names.
func Installer(t testing.TB) *install.Installer {
	t.Helper()
	cache := os.Getenv("LODESTONE_ENGINE_CACHE")
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			t.Fatal(err)
		}
	}
	return &install.Installer{
		Cache:    cache,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Log:      Runtime().Log,
	}
}
