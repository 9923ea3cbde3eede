package machine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/clock"
)

// Clocks are the clocks of the processes. Each can be moved alone.
type Clocks struct {
	dir   string
	files map[string]*clock.File // by the process's name
}

// NewClocks returns the clocks of processes whose files are in dir.
func NewClocks(dir string) *Clocks { return &Clocks{dir: dir, files: map[string]*clock.File{}} }

// Environment returns the variables that let a process follow its clock, which is made.
func (c *Clocks) Environment(name string) []string {
	if name == "" || !clock.Supported {
		return nil
	}
	file, err := clock.Make(filepath.Join(c.dir, "clock-"+name))
	if err != nil {
		return nil // its clock stays, and the fault that wants to move it says so
	}
	c.files[name] = file
	return []string{clock.Variable + "=" + file.Path()}
}

// Set moves the clock of a process.
func (c *Clocks) Set(name string, ahead time.Duration) error {
	file := c.files[name]
	if file == nil {
		return fmt.Errorf("%w: the clock of %s cannot be moved on this machine", ErrLeftOut, name)
	}
	return file.Set(ahead)
}

// Names returns the processes whose clocks can be moved and whose names begin with one of the
// prefixes, sorted.
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
