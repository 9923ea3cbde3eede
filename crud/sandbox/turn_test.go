package sandbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// With one place, an account that comes later comes next, before the files that another sent
// earlier.
func TestAccountsTakeTurns(t *testing.T) {
	t.Parallel()
	turns := NewTurns(1)
	busy, other := uuid.New(), uuid.New()
	type ran struct {
		name string
		done func()
	}
	order := make(chan ran)
	enter := func(name string, owner uuid.UUID, waiting int) {
		t.Helper()
		go func() {
			done, err := turns.Wait(context.Background(), owner)
			if err != nil {
				t.Error(err)
				return
			}
			order <- ran{name, done}
		}()
		require.Eventually(t, func() bool {
			turns.mu.Lock()
			defer turns.mu.Unlock()
			return len(turns.waiting) == waiting
		}, time.Minute, time.Millisecond)
	}
	enter("busy", busy, 0)
	for i := range 5 {
		enter("busy", busy, i+1)
	}
	enter("other", other, 6)
	enter("other", other, 7)
	var got []string
	for range 8 {
		r := <-order
		got = append(got, r.name)
		r.done()
		r.done() // harmless
	}
	require.Equal(t, []string{"busy", "other", "busy", "other", "busy", "busy", "busy", "busy"}, got)
	require.Empty(t, turns.owners, "who has nothing to run takes no memory")
	require.Equal(t, 1, turns.free)
}

// An account leaves a place for others; who leaves the queue leaves nothing behind.
func TestPlaceForOthers(t *testing.T) {
	t.Parallel()
	turns := NewTurns(2)
	busy, other := uuid.New(), uuid.New()
	first, err := turns.Wait(t.Context(), busy)
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = turns.Wait(gone, busy)
	require.ErrorIs(t, err, context.Canceled)
	second, err := turns.Wait(t.Context(), other)
	require.NoError(t, err)
	first()
	second()
	require.Empty(t, turns.owners)
	require.Empty(t, turns.waiting)
	require.Equal(t, 2, turns.free)
}
