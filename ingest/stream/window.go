package stream

import (
	"encoding/binary"
	"hash/maphash"
)

// RepeatWindow is how many offsets back a repeat of an event is recognised and dropped. It is no
// setting: what goes into a block must depend on the log alone, also across restarts.
const RepeatWindow = 100_000

// Window remembers which events the last offsets of a partition carried. Whether a record is a
// repeat depends only on the size offsets before it, so that a window filled again from the log
// decides as the one before did.
//
// It is a hash table of groups that are a line of the processor's cache each: a look and what it
// notes touch one (a ring and a table of places in it touched three, and took half as much memory
// again). Nothing is taken out: what stands further back than size counts as nothing, and its place
// is used again. It grows as it fills, so that a quiet partition takes next to nothing.
type Window struct {
	Size  int64
	seed  maphash.Seed
	last  int64   // offset seen last
	swept int64   // offset at which nothing was left that is too old
	noted int     // marks put into groups since there were none, at least as many as there are
	table []group // a power of two of them
	read  uint32  // of what was expected; never used
}

// PrefetchMax is how many events are expected at once.
const PrefetchMax = 16

// group holds marks of identities, each with the offset at which it was seen last. A mark is 64
// bits of a hash that no sender can compute, and eleven of the event's id: an event is taken for
// another one of its window, and lost, with a probability of less than one in 10^17.
type group struct {
	home [marks]uint64
	seen [marks]uint32 // a stamp and, above it, the bits of the id
	// past is the stamp of the last mark whose place was here, but stands further on since this group
	// was full.
	past uint32
}

// A stamp is the lower bits of an offset, with a bit that is always set. Before they would repeat,
// all that are too old are swept away: none gets older than sweepAfter, the window, and one jump
// over as many offsets as that.
const (
	marks      = 5
	minGroups  = 16 // groups
	offsetBits = 20
	sweepAfter = 1 << (offsetBits - 2) // offsets
	offsetMask = 1<<offsetBits - 1
	isStamp    = 1 << offsetBits
	stampMask  = isStamp | offsetMask
)

// NewWindow returns an empty window. It decides as another one does once it saw the same size
// offsets before.
func NewWindow(size int64) *Window {
	return &Window{Size: size, seed: maphash.MakeSeed(), table: make([]group, minGroups)}
}

// Repeats notes that the event stands at the offset and reports whether it stood at one of the
// size offsets before. Offsets must rise from call to call.
func (w *Window) Repeats(event Identity, offset int64) bool {
	_, repeated := w.Find(event, offset)
	return repeated
}

// Find is Repeats, and returns the last of the offsets at which the event stood.
func (w *Window) Find(event Identity, offset int64) (before int64, found bool) {
	far := offset-w.last > w.Size
	w.last = offset
	switch {
	case far:
		clear(w.table)
		w.swept, w.noted = offset, 0
	case offset-w.swept > sweepAfter:
		w.sweep()
	}
	if w.noted >= w.capacity() && int64(w.capacity()) < w.Size {
		w.grow()
	}
	w.noted++
	home := w.Hash(event)
	tag := binary.LittleEndian.Uint32(event.Event[12:]) &^ stampMask
	distance, found := w.take(home, tag)
	w.put(home, tag|w.stamp())
	return offset - distance, found
}

// Hash is the hash of an event, whose lower bits say in which group it is to be looked for first.
func (w *Window) Hash(event Identity) uint64 { return maphash.Comparable(w.seed, event) }

// Prefetch reads where events with these hashes will be looked for: the processor waits for all of
// that memory at the same time then, and not at each look. Together with the groups that took the
// window from 25 to 15 % of the consumer's time (bench consume).
func (w *Window) Prefetch(hashes []uint64) {
	for _, hash := range hashes {
		w.read += w.table[hash&uint64(len(w.table)-1)].past
	}
}

// capacity is how many marks the table may hold before it grows: with fewer than the five that fit
// into each group, few marks are stored in another group than their own.
func (w *Window) capacity() int { return len(w.table) * 16 / marks }

func (w *Window) stamp() uint32 { return isStamp | uint32(w.last)&offsetMask }

// counts reports whether a stamp is one, and of the last size offsets.
func (w *Window) counts(stamp uint32) bool { return stamp&isStamp != 0 && w.distance(stamp) <= w.Size }

// distance returns how many offsets before the last one a stamp is.
func (w *Window) distance(stamp uint32) int64 { return int64((uint32(w.last) - stamp) & offsetMask) }

// take removes the mark, and returns how many offsets before the last one it was, if it was there.
func (w *Window) take(home uint64, tag uint32) (distance int64, found bool) {
	mask := uint64(len(w.table) - 1)
	at := home & mask
	for range w.table {
		g := &w.table[at]
		for i, h := range g.home {
			if h == home && g.seen[i]&^stampMask == tag && w.counts(g.seen[i]) {
				distance = w.distance(g.seen[i])
				g.seen[i] = 0
				return distance, true
			}
		}
		if !w.counts(g.past) {
			return 0, false
		}
		at = (at + 1) & mask
	}
	return 0, false
}

// put writes a mark down that is not there. There is always a free place.
func (w *Window) put(home uint64, seen uint32) {
	mask := uint64(len(w.table) - 1)
	for at := home & mask; ; at = (at + 1) & mask {
		g := &w.table[at]
		for i, s := range g.seen {
			if !w.counts(s) {
				g.home[i], g.seen[i] = home, seen
				return
			}
		}
		g.past = w.stamp()
	}
}

// sweep takes out what is too old to count.
func (w *Window) sweep() {
	w.swept = w.last
	for at := range w.table {
		g := &w.table[at]
		for i, s := range g.seen {
			if !w.counts(s) {
				g.seen[i] = 0
			}
		}
		if !w.counts(g.past) {
			g.past = 0
		}
	}
}

// grow doubles the table.
func (w *Window) grow() {
	old := w.table
	w.table, w.noted = make([]group, 2*len(old)), 0
	for at := range old {
		g := &old[at]
		for i, s := range g.seen {
			if w.counts(s) {
				w.put(g.home[i], s)
				w.noted++
			}
		}
	}
}
