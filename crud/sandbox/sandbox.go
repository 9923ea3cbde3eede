// Package sandbox reads files that strangers sent in a process of its own.
//
// A hostile file can make a reader loop, swell or crash, or worse. So it is read by the same
// program started again: it knows none of our secrets, is ended by the system when it takes too
// long or too much memory, and hands back what it found through a pipe, which is all that is
// trusted of it.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/google/uuid"
)

// Limits of one process.
const (
	// wallTimeout ends a process that waits for something that does not come. What it computes is
	// bounded by processor time, which does not depend on how busy the machine is.
	wallTimeout = 3 * time.Minute
	maxMemory   = 768 << 20
	maxOutput   = 64 << 20
)

// Task is one kind of work that a process may be started for.
type Task struct {
	Name       string // of the process's one argument; unlike any subcommand
	CPUSeconds uint64 // processor time that it may use
	// Run does the work: it reads the file, and Run of the Runner returns its output. It may loop,
	// swell or crash. An error is the same as a crash.
	Run func(file *os.File, out io.Writer) error
}

// Runner starts processes for tasks. It is safe for concurrent use.
type Runner struct {
	program string
	turns   *Turns
}

// New returns a runner that starts this program again, and has at most so many processes at once;
// the files of others wait for their owner's turn. The program's main function must begin with a
// call of Main for every task.
func New(atOnce int) (*Runner, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program to read files with: %w", err)
	}
	return &Runner{program: program, turns: NewTurns(atOnce)}, nil
}

// deadError says that a process did not come to its end.
type deadError struct{ error }

func (e *deadError) Unwrap() error { return e.error }

// IsDead reports whether an error is about a process that crashed or went beyond its limits.
func IsDead(err error) bool {
	_, yes := errors.AsType[*deadError](err)
	return yes
}

// Run does the task named on a file, from its beginning, and returns what was written. The owner is
// the account whose file it is: accounts take turns, and one has at most all processes but one.
// Variables are all that the process has in its environment. When IsDead holds for the error, what
// was written until then is returned as well.
func (r *Runner) Run(ctx context.Context, owner uuid.UUID, name string, file *os.File,
	variables ...string) ([]byte, error) {
	var kept bytes.Buffer
	err := r.RunTo(ctx, owner, name, file, &kept, maxOutput, variables...)
	return kept.Bytes(), err
}

// RunTo is Run with an output of at most so many bytes, which is written to a writer.
func (r *Runner) RunTo(ctx context.Context, owner uuid.UUID, name string, file *os.File, to io.Writer, most int64,
	variables ...string) error {
	done, err := r.turns.Wait(ctx, owner)
	if err != nil {
		return fmt.Errorf("wait to read the file: %w", err)
	}
	defer done()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, wallTimeout)
	defer cancel()
	out := &limitedWriter{to: to, left: most, full: cancel}
	cmd := exec.CommandContext(bounded, r.program, name)
	// none of our secrets
	cmd.Env = append([]string{"GOMAXPROCS=1", fmt.Sprintf("GOMEMLIMIT=%d", maxMemory/2)}, variables...)
	cmd.Stdin, cmd.Stdout = file, out
	cmd.WaitDelay = time.Second
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start to read the file: %w", err)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("read the file: %w", ctx.Err())
	}
	if err != nil {
		return &deadError{fmt.Errorf("read the file: %w", err)}
	}
	return nil
}

// limitedWriter refuses what goes beyond its limit, and ends the process that writes. It has no
// method but Write: a bytes.Buffer's own ReadFrom would take everything.
type limitedWriter struct {
	to   io.Writer
	left int64
	full func()
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		l.full()
		return 0, errors.New("too much output")
	}
	l.left -= int64(len(p))
	return l.to.Write(p)
}
