package backup_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
	"lodestone/pkg/engine/enginetest"
)

// A backup is complete if what ClickHouse listed is there, in its size: also what an incremental one has of its base alone.
func TestACheckSeesMissingFilesOfClickHouse(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	server := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, ClickHouse: server.URL()})
	place := filepath.Join(dir, "backups", "of-tests")
	b, err := backup.Open(backup.Config{}, backup.Deps{Postgres: s.Postgres, ClickHouse: s.ClickHouse, Kafka: s.Kafka, Log: enginetest.Runtime().Log}, place)
	require.NoError(t, err)
	store := func(events string) {
		t.Helper()
		require.NoError(t, s.Conn.Exec(t.Context(), `INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, created_at, received_at, kafka_topic_id, kafka_offset)
			SELECT generateUUIDv4(), generateUUIDv4(1), generateUUIDv4(2), 'page_viewed', '{}', now64(3) - 1, now64(3), generateUUIDv4(3), number FROM numbers(`+events+`)`))
	}
	store("1000")
	full, err := b.Create(t.Context(), false, 0)
	require.NoError(t, err)
	store("10")
	m, err := b.Create(t.Context(), true, 0)
	require.NoError(t, err)
	require.Equal(t, full.Name, m.Base)
	wrong := func() []string {
		t.Helper()
		wrong, err := b.Check(t.Context(), m)
		require.NoError(t, err)
		return wrong
	}
	require.Empty(t, wrong())

	// Each file that ClickHouse wrote is looked at, in both.
	for _, name := range []string{m.Name, full.Name} {
		files := dataFiles(t, filepath.Join(place, name, "clickhouse"))
		require.Greater(t, len(files), 10)
		want := make([]string, len(files))
		for i, path := range files {
			named, err := filepath.Rel(place, path)
			require.NoError(t, err)
			want[i] = filepath.ToSlash(named) + " is missing"
			require.NoError(t, os.Rename(path, path+".away"))
		}
		require.ElementsMatch(t, want, wrong())
		for _, path := range files {
			require.NoError(t, os.Rename(path+".away", path))
		}

		cut := files[len(files)/2]
		content, err := os.ReadFile(cut)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(cut, int64(len(content)-1)))
		require.Len(t, wrong(), 1)
		require.Contains(t, wrong()[0], fmt.Sprintf(" has %d bytes, and %d were written", len(content)-1, len(content)))
		require.NoError(t, os.WriteFile(cut, content, 0o600))
	}
	require.Empty(t, wrong())
}

// dataFiles returns what ClickHouse wrote, without its listing.
func dataFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}
