package watermark

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/store"
)

// Documents that are stamped at once take so much disk and no more. Who finds none left is refused
// for now, and the next one tries again.
func TestTheDiskForStampingIsBounded(t *testing.T) {
	t.Parallel()
	m := New(Deps{})
	m.timeout = 0
	large, err := m.takeDisk(t.Context(), 100<<20)
	require.NoError(t, err)
	f := store.LeadMagnetFile{LeadMagnetID: uuid.New(), Version: 1, FileSize: 20 << 20}
	for range 2 {
		_, err = m.Open(t.Context(), f, "ann@example.com", f.CreatedAt)
		require.ErrorIs(t, err, ErrBusy)
		require.NotErrorIs(t, err, ErrUnfit)
		require.Empty(t, m.docs)
	}
	small, err := m.takeDisk(t.Context(), 1<<20)
	require.NoError(t, err, "it fits beside the large one")
	large()
	small()
	all, err := m.takeDisk(t.Context(), 1<<40)
	require.NoError(t, err, "any document can be stamped, alone")
	_, err = m.takeDisk(t.Context(), 0)
	require.ErrorIs(t, err, ErrBusy)
	all()
}
