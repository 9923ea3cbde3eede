package ledger

import (
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestIDsTellTheirNumber(t *testing.T) {
	t.Parallel()
	run := IDs{Run: [8]byte{0xff, 1, 2, 3, 4, 5, 6, 7}}
	for _, number := range []uint64{0, 1, 4711, 1<<48 - 1} {
		id := run.Event(number)
		require.Equal(t, uuid.Version(8), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		got, ours := run.Number(id)
		require.True(t, ours)
		require.Equal(t, number, got)
		require.NotEqual(t, id, run.Session(number))
	}
	_, ours := run.Number(uuid.New())
	require.False(t, ours)
}

func TestLedgerHasTheAnswersOfSenders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), " txt")
	l, err := New(path)
	require.NoError(t, err)
	require.NoError(t, l.Write(true, false, 1, 0, 2))
	require.NoError(t, l.Write(false, true, 2, 2, 1))
	require.NoError(t, l.Close())
	all, err := Read(path, 4)
	require.NoError(t, err)
	require.Equal(t, []Promise{{Step: 1, Acked: true}, {Step: 1, Acked: true}, {Step: 2, Maybe: true, View: true}, {}},
		all)
	_, err = Read(path, 2)
	require.ErrorContains(t, err, "beyond")
}
