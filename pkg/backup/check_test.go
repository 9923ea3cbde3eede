package backup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// A backup proves itself: a byte that changed in any file of it is found, and nothing of such a
// backup is loaded. What was restored is read whole.
func TestABackupProvesItself(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	server := enginetest.NewMigratedClickHouse(t, dir)
	enginetest.Run(t, server)
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, ClickHouse: server.URL()})
	place := filepath.Join(dir, "backups", "of-tests")
	open := func(deps backup.Deps) *backup.Backups {
		deps.ClickHouse, deps.Kafka, deps.Log = s.ClickHouse, s.Kafka, enginetest.Runtime().Log
		b, err := backup.Open(backup.Config{}, deps, place)
		require.NoError(t, err)
		return b
	}
	b := open(backup.Deps{Postgres: s.Postgres})
	store := func(events string) {
		t.Helper()
		require.NoError(t, s.Conn.Exec(t.Context(), `INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, created_at, received_at, kafka_topic_id, kafka_offset)
			SELECT generateUUIDv4(), generateUUIDv4(1), generateUUIDv4(2), 'page_viewed', '{}', now64(3) - 1, now64(3), generateUUIDv4(3), number FROM numbers(`+events+`)`))
	}
	store("1000")
	m, err := b.Create(t.Context())
	require.NoError(t, err)
	wrong := func() []string {
		t.Helper()
		wrong, err := b.Check(t.Context(), m)
		require.NoError(t, err)
		return wrong
	}
	require.Empty(t, wrong())

	files := filesOf(t, filepath.Join(place, m.Name))
	require.Greater(t, len(files), 40)
	var missing, changed []string
	for _, path := range files {
		relative, err := filepath.Rel(place, path)
		require.NoError(t, err)
		missing, changed = append(missing, filepath.ToSlash(relative)+" is missing"),
			append(changed, filepath.ToSlash(relative)+" is not what was written")
		require.NoError(t, os.Rename(path, path+".away"))
	}
	require.ElementsMatch(t, missing, wrong())
	for i, path := range files {
		require.NoError(t, os.Rename(path+".away", path))
		flip(t, path, i)
	}
	require.ElementsMatch(t, changed, wrong())
	for i, path := range files {
		flip(t, path, i)
	}
	require.Empty(t, wrong())

	// What says what the others are.
	sums := filepath.Join(place, m.Name, "clickhouse", "1.sha256")
	flip(t, sums, 3)
	require.Equal(t, []string{m.Name + "/clickhouse/1.sha256 is not what was written"}, wrong())
	flip(t, sums, 3)
	for _, file := range []string{"manifest.json", "manifest.json.sha256"} {
		for at := range 50 {
			flip(t, filepath.Join(place, m.Name, file), at)
			_, err := b.Find(t.Context(), m.Name)
			require.ErrorIs(t, err, backup.ErrDamaged, "%s, byte %d", file, at)
			flip(t, filepath.Join(place, m.Name, file), at)
		}
	}
	require.NoError(t, os.Rename(filepath.Join(place, m.Name), filepath.Join(place, "20200101T000000Z")))
	_, err = b.Find(t.Context(), "20200101T000000Z")
	require.ErrorContains(t, err, "it is the manifest of "+m.Name)
	require.NoError(t, os.Rename(filepath.Join(place, "20200101T000000Z"), filepath.Join(place, m.Name)))

	for _, database := range []string{"analytics", "lodestone_all", "lodestone"} {
		require.NoError(t, s.Conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+database+" SYNC"))
	}
	empty := enginetest.MigratedPostgres(t)
	into := open(backup.Deps{Postgres: empty})
	for _, pattern := range []string{"clickhouse/1/data/lodestone/events/*/data.bin", "postgres/accounts.copy.zst"} {
		found, err := filepath.Glob(filepath.Join(place, m.Name, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		flip(t, found[0], 5)
		_, err = into.Restore(t.Context(), m)
		require.ErrorIs(t, err, backup.ErrDamaged)
		require.ErrorContains(t, err, "nothing was loaded")
		var databases uint64
		require.NoError(t, s.Conn.QueryRow(t.Context(),
			"SELECT count() FROM system.databases WHERE name IN ('analytics', 'lodestone')").Scan(&databases))
		require.Zero(t, databases)
		flip(t, found[0], 5)
	}
	_, err = into.Restore(t.Context(), m)
	require.NoError(t, err)

	require.NoError(t, clickhouse.CheckTables(t.Context(), s.ClickHouse))
	var part string
	require.NoError(t, s.Conn.QueryRow(t.Context(),
		`SELECT path FROM system.parts WHERE database = 'lodestone' AND table = 'events' AND active ORDER BY rows DESC LIMIT 1`).Scan(&part))
	flip(t, filepath.Join(part, "data.bin"), 100)
	require.ErrorContains(t, clickhouse.CheckTables(t.Context(), s.ClickHouse), "lodestone.events: its part "+
		filepath.Base(part)+" is damaged")
}

// flip changes a byte of a file, and changes it back the second time.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[at*97%len(content)] ^= 0x20
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// filesOf returns the files that hold rows, and ClickHouse's listing of its own.
func filesOf(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasSuffix(path, ".sha256") && e.Name() != "manifest.json" {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}
