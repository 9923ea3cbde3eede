package event

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	record := AppendGrowth(nil, 24)
	n, ok := Growth(record)
	require.True(t, ok)
	require.Equal(t, 24, n)
	// A consumer of an earlier release has only these two, and stops before what is newer.
	require.ErrorIs(t, new(Event).Decode(record), ErrNewer)
	require.ErrorIs(t, new(LinkView).Decode(record), ErrNewer)
	event := Event{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(), Type: PageViewed}
	for _, other := range [][]byte{nil, {8}, record[:3], record[:4], event.Append(nil), AppendGrowth(nil, maxPartitions+1)} {
		_, ok := Growth(other)
		require.False(t, ok)
	}
}
