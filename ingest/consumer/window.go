package consumer

import "hash/maphash"

// repeatWindow is how many offsets back a repeat of an event is recognised and dropped. It is no
// setting: what goes into a block must depend on the log alone, also across restarts.
const repeatWindow = 100_000

// window remembers which events the last offsets of a partition carried. Whether a record is a
// repeat depends only on the repeatWindow offsets before it, so that a window filled anew from the
// log decides as the one before did.
type window struct {
	size int64
	// Two generations of at most size offsets each: together they hold at least the last size
	// offsets, and forgetting is dropping the older one.
	current, previous map[mark]int64
	began             int64 // first offset of the current generation
	seeds             [2]maphash.Seed
}

// mark stands for an identity in half of its room. Two identities of one window share their mark with
// a probability of one in 10^28 or so.
type mark [2]uint64

func newWindow(size int64) *window {
	return &window{
		size: size, current: map[mark]int64{}, previous: map[mark]int64{}, began: -1,
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// repeats notes that the event stands at the offset and reports whether it stood at one of the
// size offsets before. Offsets must rise from call to call.
func (w *window) repeats(event identity, offset int64) bool {
	id := mark{maphash.Comparable(w.seeds[0], event), maphash.Comparable(w.seeds[1], event)}
	switch {
	case w.began < 0:
		w.began = offset
	case offset-w.began >= w.size:
		w.previous, w.current = w.current, w.previous
		clear(w.current)
		w.began = offset
	}
	at, seen := w.current[id]
	if !seen {
		at, seen = w.previous[id]
	}
	w.current[id] = offset
	return seen && offset-at <= w.size
}
