package consumer

import (
	"testing"

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
		ids := make([]identity, rapid.IntRange(1, 9).Draw(t, "ids"))
		for i := range ids {
			ids[i] = identity{event: uuid.New()}
		}
		log := rapid.SliceOfN(rapid.IntRange(0, len(ids)-1), 1, 80).Draw(t, "log")
		refilled := rapid.IntRange(0, len(log)-1).Draw(t, "refilled at")
		last := map[int]int64{}
		w := newWindow(size)
		var fresh *window
		for offset, id := range log {
			if int64(offset) == max(0, int64(refilled)-size) {
				fresh = newWindow(size)
			}
			at, seen := last[id]
			want := seen && int64(offset)-at <= size
			last[id] = int64(offset)
			require.Equal(t, want, w.repeats(ids[id], int64(offset)))
			if fresh != nil {
				got := fresh.repeats(ids[id], int64(offset))
				if offset >= refilled {
					require.Equal(t, want, got, "a window filled anew from the log")
				}
			}
		}
	})
}
