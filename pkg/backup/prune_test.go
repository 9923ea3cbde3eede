package backup

import (
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// What is old goes, and nothing that a kept backup needs.
func TestOldBackupsAreRemoved(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	name := func(days int) string { return now.AddDate(0, 0, -days).Format(nameForm) }
	shared, old := uuid.New(), uuid.New()
	b, err := Open(Config{}, Deps{Progress: func(string) {}}, t.TempDir())
	require.NoError(t, err)
	write := func(object string) {
		_, err := b.place.create(t.Context(), object, func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		})
		require.NoError(t, err)
	}
	has := func(object string) bool {
		_, err := b.place.size(t.Context(), object)
		return err == nil
	}
	add := func(days int, base string, files ...uuid.UUID) {
		m := Manifest{Version: manifestVersion, Name: name(days), Base: base, PostgresAt: now.AddDate(0, 0, -days)}
		for _, id := range files {
			m.Files = append(m.Files, File{ID: id})
			write(fileName(id))
		}
		write(m.Name + "/shard-0/data/part.bin")
		require.NoError(t, writeManifest(t.Context(), b.place, m))
	}
	add(60, "", old)
	add(59, name(60), old)
	add(40, "", shared) // the base of one that is kept
	add(39, name(40), shared)
	add(20, name(40), shared)
	write(name(35) + "/postgres/accounts") // never ended
	write(name(1) + "/postgres/accounts")  // nor did this one
	write("notes/readme")

	require.NoError(t, b.prune(t.Context(), now.AddDate(0, 0, -30)))
	for _, gone := range []string{name(60) + "/manifest.json", name(60) + "/shard-0/data/part.bin", name(59) + "/manifest.json", name(39) + "/manifest.json", name(35) + "/postgres/accounts", fileName(old)} {
		require.False(t, has(gone), gone)
	}
	for _, stays := range []string{name(40) + "/shard-0/data/part.bin", name(20) + "/shard-0/data/part.bin", name(1) + "/postgres/accounts", fileName(shared), "notes/readme"} {
		require.True(t, has(stays), stays)
	}
	require.NoError(t, b.prune(t.Context(), now))
	list, err := b.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2, "the newest, and its base")
	require.True(t, has(fileName(shared)))
}
