package stream

import (
	"slices"
	"sync"
)

// Tables keeps tables that are not in use, so that the memory of their columns is used again, by
// whichever partition needs it; tables that stay unused are dropped.
type Tables struct {
	empty func() Table

	mu    sync.Mutex
	free  []Table // the one used last at the end
	spare int     // how many were free all the time since trim
}

func newTables(empty func() Table) *Tables { return &Tables{empty: empty} }

// Take returns an empty table.
func (t *Tables) Take() Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := len(t.free) - 1
	if last < 0 {
		return t.empty()
	}
	taken := t.free[last]
	t.free[last], t.free = nil, t.free[:last]
	t.spare = min(t.spare, last)
	return taken
}

// Give takes a table back.
func (t *Tables) Give(used Table) {
	used.Reset()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, used)
}

// Trim lets go of the tables that were not needed since it was called before.
func (t *Tables) Trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = slices.Delete(t.free, 0, t.spare)
	t.spare = len(t.free)
}

// Copy returns a table with those rows that wanted accepts.
func (t *Tables) Copy(from Table, wanted func(row int) bool) Table {
	to := t.Take()
	for row := range from.Offsets() {
		if wanted(row) {
			to.addRow(from, row)
		}
	}
	return to
}
