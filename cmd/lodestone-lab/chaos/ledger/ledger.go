// Package ledger records what the senders of a chaos run were answered.
package ledger

import (
	"bufio"
	"fmt"
	"os"
	"sync"

	"github.com/google/uuid"
)

// IDs makes the ids of a run's events from their numbers, and back.
type IDs struct{ Run [8]byte }

// Event returns the id of an event: a UUID of version 8 with the number in its first 48 bits.
func (i IDs) Event(number uint64) uuid.UUID { return i.make(number, 1) }

// View returns the id of a link view.
func (i IDs) View(number uint64) uuid.UUID { return i.make(number, 3) }

// Session returns the id of a session.
func (i IDs) Session(number uint64) uuid.UUID { return i.make(number, 2) }

func (i IDs) make(number uint64, kind byte) uuid.UUID {
	var u uuid.UUID
	for k := range 6 {
		u[k] = byte(number >> (40 - 8*k))
	}
	u[6], u[7] = 0x80, kind
	copy(u[8:], i.Run[:])
	u[8] = 0x80 | u[8]&0x3f
	return u
}

// Number returns what the id was made from, or false if it is none of this run's.
func (i IDs) Number(u uuid.UUID) (uint64, bool) {
	var n uint64
	for k := range 6 {
		n = n<<8 | uint64(u[k])
	}
	return n, i.make(n, u[7]) == u
}

// Ledger is the record of the answers that senders got, in a file. Every line is one answer:
//
//	acked events STEP FIRST COUNT   events FIRST up to FIRST+COUNT-1 were acknowledged, during STEP
//	maybe views STEP FIRST COUNT    the sender gave these link views up; stored once or not at all
//
// A line is handed to the operating system before its events are counted.
type Ledger struct {
	mu    sync.Mutex
	file  *os.File
	acked int64
	maybe int64
}

// New creates a ledger in a new file.
func New(path string) (*Ledger, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Ledger{file: file}, nil
}

// Write records an answer for count events from first on.
func (l *Ledger) Write(acked, views bool, step int, first uint64, count int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	word, what := "maybe", "events"
	if acked {
		word = "acked"
	}
	if views {
		what = "views"
	}
	if _, err := fmt.Fprintf(l.file, "%s %s %d %d %d\n", word, what, step, first, count); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	if acked {
		l.acked += int64(count)
	} else {
		l.maybe += int64(count)
	}
	return nil
}

// Counts returns how many events were acknowledged, and how many were given up.
func (l *Ledger) Counts() (acked, maybe int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked, l.maybe
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Promise is the sender's knowledge of an event.
type Promise struct {
	Step   int16
	Acked  bool
	Maybe  bool
	View   bool  // of a landing page, else an event
	Stored uint8 // rows found
}

// Read returns the promises of count events, by the events' numbers.
func Read(path string, count uint64) ([]Promise, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	all := make([]Promise, count)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var word, what string
		var step int16
		var first, n uint64
		if _, err := fmt.Sscan(lines.Text(), &word, &what, &step, &first, &n); err != nil {
			return nil, fmt.Errorf("read the ledger: %q: %w", lines.Text(), err)
		}
		for i := first; i < first+n; i++ {
			if i >= count || all[i].Acked || all[i].Maybe {
				return nil, fmt.Errorf("the ledger has event %d twice, or beyond the %d that were made", i, count)
			}
			all[i] = Promise{Step: step, Acked: word == "acked", Maybe: word == "maybe", View: what == "views"}
		}
	}
	return all, lines.Err()
}
