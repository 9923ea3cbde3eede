package machine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/clock"
)

// Clocks are those of the processes, each of which can be moved alone.
type Clocks struct {
	dir      string
	files    map[string]*clock.File // by the process's name
	postgres string                 // the library that moves PostgreSQL's; empty: there is no compiler
}

//go:embed clock.c.txt
var clockSource []byte

// NewClocks returns the clocks of processes whose files are in dir.
func NewClocks(ctx context.Context, dir string, log *slog.Logger) (*Clocks, error) {
	c := &Clocks{dir: dir, files: map[string]*clock.File{}}
	if !clock.Supported {
		log.Info("clocks stay: " + clock.ErrUnsupported.Error())
		return c, nil
	}
	library, source := filepath.Join(dir, "clock.so"), filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if output, err := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O2", "-o", library, source).CombinedOutput(); err != nil {
		log.Info("PostgreSQL's clock stays: it takes a C compiler", "error", err, "output", string(output))
		return c, nil
	}
	c.postgres = library
	return c, nil
}

// Environment returns the variables that let a process follow its clock, which is made.
func (c *Clocks) Environment(name string) []string {
	if name == "" || !clock.Supported || name == "postgres" && c.postgres == "" {
		return nil
	}
	file, err := clock.Make(filepath.Join(c.dir, "clock-"+name))
	if err != nil {
		return nil // its clock stays, and the fault that wants to move it says so
	}
	c.files[name] = file
	variables := []string{clock.Variable + "=" + file.Path()}
	if name == "postgres" {
		variables = append(variables, "LD_PRELOAD="+c.postgres)
	}
	return variables
}

// Set moves the clock of a process.
func (c *Clocks) Set(name string, ahead time.Duration) error {
	file := c.files[name]
	if file == nil {
		return fmt.Errorf("%w: the clock of %s cannot be moved on this machine", ErrLeftOut, name)
	}
	return file.Set(ahead)
}

// Names returns the processes whose clocks can be moved and whose names begin with one of the prefixes, sorted.
func (c *Clocks) Names(prefixes ...string) (names []string) {
	for name := range c.files {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ErrLeftOut says that this machine, or this run, does not allow a fault.
var ErrLeftOut = errors.New("left out")
