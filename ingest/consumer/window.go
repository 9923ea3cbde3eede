package consumer

import "hash/maphash"

// repeatWindow is how many offsets back a repeat of an event is recognised and dropped. It is no
// setting: what goes into a block must depend on the log alone, also across restarts.
const repeatWindow = 100_000

// window remembers which events the last offsets of a partition carried. Whether a record is a
// repeat depends only on the size offsets before it, so that a window filled anew from the log
// decides as the one before did.
//
// It is a ring of what was seen, in the order of the offsets, and a hash table of places in that ring:
// a third of the time and memory that maps of Go's took (BenchmarkWindow). Both grow as they fill, so that
// a quiet partition takes next to nothing.
type window struct {
	size  int64
	seeds [2]maphash.Seed
	last  int64 // offset seen last

	ring  []seen // of a length that is a power of two
	first uint32 // number of the oldest entry; entry n is at ring[n%len(ring)]
	past  uint32 // number of the entry to come; numbers wrap around

	// places has, at about the hash of a mark, where in the ring its last entry is: the lower numberBits.
	// Above them are bits of the mark, so that hardly ever a wrong entry is looked at. 0 is an empty place, so
	// the lowest bit is always set. It is at most half full.
	places []uint32
}

// mark stands for an identity in less room. Two identities of one window share their mark with a
// probability of one in 10^23 or so.
type mark struct {
	home uint64
	tag  uint32
}

// seen is an entry of the ring.
type seen struct {
	home   uint64
	tag    uint32
	offset uint32 // its lower bits
}

const (
	leastRing  = 64
	numberBits = 17 // as a ring of repeatWindow has, rounded up
	numberMask = 1<<numberBits - 1
	tagMask    = ^uint32(numberMask<<1 | 1)
)

func newWindow(size int64) *window {
	return &window{
		size:   size,
		seeds:  [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		ring:   make([]seen, leastRing),
		places: make([]uint32, 2*leastRing),
	}
}

// repeats notes that the event stands at the offset and reports whether it stood at one of the
// size offsets before. Offsets must rise from call to call.
func (w *window) repeats(event identity, offset int64) bool {
	if offset-w.last > w.size {
		w.first = w.past
		clear(w.places)
	}
	w.last = offset
	// Differences of the lower bits are right, since they are less than two sizes.
	for w.first != w.past && uint32(offset)-w.entry(w.first).offset > uint32(w.size) {
		w.forget()
	}
	if w.past-w.first == uint32(len(w.ring)) {
		w.grow()
	}
	m := mark{maphash.Comparable(w.seeds[0], event), uint32(maphash.Comparable(w.seeds[1], event))}
	place, repeated := w.find(m)
	*w.entry(w.past) = seen{m.home, m.tag, uint32(offset)}
	w.places[place] = w.reference(m, w.past)
	w.past++
	return repeated
}

// entry returns the entry of a number.
func (w *window) entry(number uint32) *seen { return &w.ring[number&uint32(len(w.ring)-1)] }

// reference is what a place holds for the entry of a number.
func (w *window) reference(m mark, number uint32) uint32 {
	return m.tag&tagMask | number&uint32(len(w.ring)-1)<<1 | 1
}

// entryAt returns the entry that a place refers to.
func (w *window) entryAt(place uint64) *seen { return &w.ring[w.places[place]>>1&numberMask] }

// find returns the place of the mark, or the place where it is to be.
func (w *window) find(m mark) (place uint64, found bool) {
	mask := uint64(len(w.places) - 1)
	for place = m.home & mask; ; place = (place + 1) & mask {
		reference := w.places[place]
		if reference == 0 {
			return place, false
		}
		if (reference^m.tag)&tagMask == 0 {
			if e := w.entryAt(place); e.home == m.home && e.tag == m.tag {
				return place, true
			}
		}
	}
}

// forget drops the oldest entry. If its event was seen again, the place is that later entry's, and stays.
func (w *window) forget() {
	number := w.first
	w.first++
	e := w.entry(number)
	m := mark{e.home, e.tag}
	place, found := w.find(m)
	if !found || w.places[place] != w.reference(m, number) {
		return
	}
	// What stands behind it without a gap moves up, unless it would come to stand before its home.
	mask := uint64(len(w.places) - 1)
	for next := (place + 1) & mask; w.places[next] != 0; next = (next + 1) & mask {
		if (next-w.entryAt(next).home)&mask >= (next-place)&mask {
			w.places[place] = w.places[next]
			place = next
		}
	}
	w.places[place] = 0
}

// grow doubles the ring, which is full, and fills the table anew.
func (w *window) grow() {
	old := *w
	w.ring = make([]seen, 2*len(old.ring))
	w.places = make([]uint32, 2*len(w.ring))
	for number := w.first; number != w.past; number++ {
		e := *old.entry(number)
		*w.entry(number) = e
		m := mark{e.home, e.tag}
		place, _ := w.find(m)
		w.places[place] = w.reference(m, number)
	}
}
