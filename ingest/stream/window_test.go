package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The window must decide as one that remembers everything and compares distances, wherever it
// begins to be filled.
func TestWindowDecidesAsThePlainModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 12).Draw(t, "size")
		ids := make([]Identity, rapid.IntRange(1, 9).Draw(t, "ids"))
		for i := range ids {
			ids[i] = Identity{Event: uuid.New()}
		}
		log := rapid.SliceOfN(rapid.IntRange(0, len(ids)-1), 1, 80).Draw(t, "log")
		refilled := rapid.IntRange(0, len(log)-1).Draw(t, "refilled at")
		last := map[int]int64{}
		w := NewWindow(size)
		var fresh *Window
		for offset, id := range log {
			if int64(offset) == max(0, int64(refilled)-size) {
				fresh = NewWindow(size)
			}
			at, seen := last[id]
			want := seen && int64(offset)-at <= size
			last[id] = int64(offset)
			require.Equal(t, want, w.Repeats(ids[id], int64(offset)))
			if fresh != nil {
				got := fresh.Repeats(ids[id], int64(offset))
				if offset >= refilled {
					require.Equal(t, want, got, "a window filled again from the log")
				}
			}
		}
	})
}

// Windows of the real size are made of tables that have grown, wrapped around and been cleared.
func TestALongWindow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	w := NewWindow(RepeatWindow)
	last := map[uint64]int64{}
	offset, repeats := int64(0), 0
	for range 5 * RepeatWindow {
		offset++
		switch r.IntN(200_000) {
		case 0:
			offset += r.Int64N(2 * RepeatWindow)
		case 1:
			offset += 1 << 33
		}
		n := r.Uint64N(300_000) // mostly seen before, about as long ago as the window reaches
		at, seen := last[n]
		last[n] = offset
		id := Identity{}
		binary.LittleEndian.PutUint64(id.Event[:], n)
		want := seen && offset-at <= RepeatWindow
		if want {
			repeats++
		}
		if got := w.Repeats(id, offset); got != want {
			require.Equal(t, want, got, "offset %d, seen at %d", offset, at)
		}
	}
	require.Greater(t, repeats, RepeatWindow/4)
	require.LessOrEqual(t, len(w.table)*int(unsafe.Sizeof(group{})), 2<<20)
	require.Equal(t, uintptr(64), unsafe.Sizeof(group{}), "a line of the cache")
}

// BenchmarkWindow is the look for one record, in windows of twelve partitions that are full.
func BenchmarkWindow(b *testing.B) {
	const partitions = 12
	links := make([]uuid.UUID, 5000)
	for i := range links {
		links[i] = uuid.New()
	}
	var (
		before, after runtime.MemStats
		windows       [partitions]*Window
		ids           [PrefetchMax]Identity
		homes         [PrefetchMax]uint64
	)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range windows {
		windows[i] = NewWindow(RepeatWindow)
	}
	id := Identity{Event: uuid.New()}
	look := func(round int) {
		for _, w := range windows {
			for i := range ids {
				n := round*PrefetchMax + i
				id.Link = links[n%len(links)]
				binary.LittleEndian.PutUint32(id.Event[:], uint32(n))
				ids[i], homes[i] = id, w.Hash(id)
			}
			w.Prefetch(homes[:])
			for i, id := range ids {
				w.Repeats(id, int64(round*PrefetchMax+i))
			}
		}
	}
	round := 0
	for ; round < 3*RepeatWindow/PrefetchMax; round++ {
		look(round)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	for b.Loop() {
		look(round)
		round++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(partitions*PrefetchMax), "ns/look")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20)/partitions, "MiB/window")
	runtime.KeepAlive(windows)
}
