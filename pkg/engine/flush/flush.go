// Package flush makes a log that another component writes durable before any client sees it. A
// broker that syncs each file after each write waits for the disk once for each, one after another.
// Here it only writes, and its answers are held back: those of all its connections wait for one
// round at a time, in which every file that has grown is synced, all at once.
//
// Every answer waits, not only acknowledgements: a reader must not receive a record that a power
// loss could remove, since another record would get its offset.
package flush

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrClosed is returned by Flush after Close.
var ErrClosed = errors.New("the log is closed")

// Flusher syncs the files of a log. It is safe for concurrent use.
type Flusher struct {
	sync   func(*os.File) error
	broken chan error

	mu   sync.Mutex
	next *round // which has not begun: everybody who comes joins it

	turn   sync.Mutex // held by the round that runs
	tree   *tree
	failed error // what ended it
}

// round is one pass over the files, for all callers who came before it began.
type round struct {
	done chan struct{}
	err  error
}

// New returns a Flusher for the log in a directory, which need not be there yet.
func New(dir string) *Flusher {
	return &Flusher{sync: (*os.File).Sync, broken: make(chan error, 1), tree: newTree(dir)}
}

// Broken delivers the first error, once. Nothing is reliable after it: pages that a failed sync did
// not write, a later sync does not write either. So every Flush fails from then on.
func (f *Flusher) Broken() <-chan error { return f.broken }

// Flush returns once everything that was written to the log before the call is on the disk.
func (f *Flusher) Flush() error {
	f.mu.Lock()
	if r := f.next; r != nil {
		f.mu.Unlock()
		<-r.done
		return r.err
	}
	r := &round{done: make(chan struct{})}
	f.next = r
	f.mu.Unlock()

	f.turn.Lock()
	defer f.turn.Unlock()
	f.mu.Lock()
	f.next = nil // who comes from here on may have written what this round does not see
	f.mu.Unlock()
	r.err = f.run()
	close(r.done)
	return r.err
}

func (f *Flusher) run() error {
	if f.failed != nil {
		return f.failed
	}
	if err := f.tree.flush(f.sync); err != nil {
		f.failed = fmt.Errorf("make the log durable: %w", err)
		f.broken <- f.failed
	}
	return f.failed
}

// Close syncs unsynced files and closes them. It returns no error that Broken has delivered.
func (f *Flusher) Close() error {
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.failed != nil {
		f.tree.close()
		return nil
	}
	f.tree.finish()
	err := f.tree.flush(f.sync)
	f.tree.close()
	f.failed = ErrClosed
	return err
}
