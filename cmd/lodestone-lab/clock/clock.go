// Package clock moves the clock of processes, for the chaos runner and for tests. Sources adds it
// to the programs that are built for them, and to no other build.
//
// What is moved is the time of day (CLOCK_REALTIME), as an operator who sets a machine's clock
// moves it; the monotonic clock, by which timers run, goes on. No library that is loaded before the
// others reaches a static program, so the process changes itself: the kernel's vDSO, through which
// both Go and the ClickHouse library read the time, is made to add what a file says.
package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// Variable is the environment variable that names the file which a process is to follow.
const Variable = "CHAOS_CLOCK"

// ErrUnsupported says that the clock of a process cannot be moved on this system.
var ErrUnsupported = errors.New("the clock of a process can be moved on Linux on amd64 only")

// File says by how much the processes that follow it are ahead of the machine. It may be set from
// several goroutines.
type File struct{ path string }

// fileBytes is the size of a file: whole seconds, a signed number of 64 bits in the machine's
// order.
const fileBytes = 8

// Make makes a file that moves nothing yet. Processes of any user may follow it.
func Make(path string) (*File, error) {
	f := &File{path}
	if err := f.Set(0); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // they only read
		return nil, fmt.Errorf("make clock: %w", err)
	}
	return f, nil
}

// Path is the file's, for Variable.
func (f *File) Path() string { return f.path }

// Set moves the clocks of all that follow, now and when they are started again, to be ahead of the
// machine's by so many whole seconds.
func (f *File) Set(ahead time.Duration) error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("set clock: %w", err)
	}
	var text [fileBytes]byte
	binary.NativeEndian.PutUint64(text[:], uint64(ahead/time.Second))
	_, err = file.WriteAt(text[:], 0)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("set clock: %w", err)
	}
	return nil
}
