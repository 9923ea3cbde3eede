//go:build long

package replica_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/pkg/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Of two processes that change the record at once, one does. The age begins when the change can be seen.
func TestTheRecordOfWriters(t *testing.T) {
	t.Parallel()
	l := replica.NewLedger(enginetest.MigratedPostgres(t))
	require.NoError(t, l.Begin(t.Context(), 3, "a", 5))
	require.NoError(t, l.Begin(t.Context(), 3, "b", 7), "it has a record")
	r, err := l.Read(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, replica.Record{Shard: 3, Replicas: []string{"a"}, Writer: "a", Epoch: 5, Ready: true}, r)

	next := r
	next.Replicas, next.Writer, next.Epoch, next.Ready, next.Previous = []string{"a", "b"}, "b", 6, false, "a"
	require.NoError(t, l.Swap(t.Context(), r, next))
	require.ErrorIs(t, l.Swap(t.Context(), r, next), replica.ErrChanged)

	seen, err := l.Read(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, next, seen, "its age is zero until it was seen")
	require.Eventually(t, func() bool {
		again, err := l.Read(t.Context(), 3)
		return err == nil && again.Age > 0
	}, enginetest.Timeout, 10*time.Millisecond)

	ready := seen
	ready.Ready, ready.Previous, ready.Drops = true, "", 1
	require.NoError(t, l.Swap(t.Context(), seen, ready))
	seen, err = l.Read(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, ready, seen)
	_, err = l.Read(t.Context(), 4)
	require.Error(t, err, "a shard without a record")
}
