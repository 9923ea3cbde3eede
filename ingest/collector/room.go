package collector

import "sync"

// roomSizes are the sizes of rooms for bodies beyond firstBytes. Body after body of a hundred events would
// else leave a hundred kilobytes of garbage each.
var roomSizes = [...]int{64 << 10, 256 << 10, MaxBodyBytes + 1} // one more shows that a body is too large

// nextRoom returns which of the sizes comes after one. The last is larger than any limit, so a body that fills it
// has been refused before.
func nextRoom(size int) int {
	for i, s := range roomSizes {
		if s > size {
			return i
		}
	}
	return len(roomSizes) - 1
}

// rooms keeps rooms for the next body. Those in use are counted by arrivals, which bounds how many there ever are.
type rooms struct{ pools [len(roomSizes)]sync.Pool }

// room is memory of one of the sizes.
type room struct {
	size  int // which
	bytes []byte
}

func (r *rooms) get(size int) *room {
	if kept, ok := r.pools[size].Get().(*room); ok {
		return kept
	}
	return &room{size, make([]byte, 0, roomSizes[size])}
}

// put takes a room back. There may be none.
func (r *rooms) put(used *room) {
	if used != nil {
		r.pools[used.size].Put(used)
	}
}
