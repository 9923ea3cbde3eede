package limit

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// One owner takes its share and no more, all together what there is and no more, and what is given
// back can be taken.
func TestShares(t *testing.T) {
	t.Parallel()
	s := NewSlots[string](5, 3)
	first, err := s.Take("b", 2)
	require.NoError(t, err)
	_, err = s.Take("b", 2)
	require.ErrorIs(t, err, ErrOwner)
	_, err = s.Take("b", 1)
	require.NoError(t, err)
	last, err := s.Take("a", 2)
	require.NoError(t, err)
	_, err = s.Take("c", 1)
	require.ErrorIs(t, err, ErrFull)
	_, err = s.Take("b", 1)
	require.ErrorIs(t, err, ErrOwner)
	last()
	last()
	_, err = s.Take("c", 2)
	require.NoError(t, err)
	_, err = s.Take("a", 1)
	require.ErrorIs(t, err, ErrFull)
	_, err = s.Take("", 1)
	require.ErrorIs(t, err, ErrFull)
	first()
	require.Len(t, s.by, 2, "who holds nothing takes no memory")
}

// Those who are not known are bounded only together with all others.
func TestUnknownOwners(t *testing.T) {
	t.Parallel()
	s := NewSlots[string](3, 1)
	for range 3 {
		_, err := s.Take("", 1)
		require.NoError(t, err)
	}
	_, err := s.Take("", 1)
	require.ErrorIs(t, err, ErrFull)
}

// However many take at once, the bounds hold.
func TestSharesAtOnce(t *testing.T) {
	t.Parallel()
	s := NewSlots[int](10, 4)
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := map[int]int{}
	for i := range 60 {
		wg.Go(func() {
			if _, err := s.Take(1+i%3, 1); err == nil {
				mu.Lock()
				taken[i%3]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 10, taken[0]+taken[1]+taken[2])
	for _, n := range taken {
		require.LessOrEqual(t, n, 4)
	}
}
