package bucket_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/file"
	"lodestone/pkg/backup"
	"lodestone/pkg/blob"
	"lodestone/pkg/test/enginetest"
)

// A document that is deleted while a backup is made, after Postgres was copied, is listed as gone;
// the others are in the backup. The backup can be restored, which names the document. The others
// can be read then, and the document can not. One that is in Postgres and not in the bucket is an
// error.
func TestABackupWhileADocumentIsDeleted(t *testing.T) {
	dir := enginetest.Dir(t)
	server := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, ClickHouse: server.URL()})
	l := newLibraryOf(t, nil)
	files := l.open(l.config)
	kept, text := l.add(files, 1000)
	deleted, _ := l.add(files, 900)
	l.age()
	client, err := l.config.S3.Open()
	require.NoError(t, err)
	at, _ := blob.ParseLocation(l.config.Store)
	var during func()
	var printed []string
	deps := backup.Deps{
		Postgres: l.db, ClickHouse: stack.ClickHouse, Kafka: stack.Kafka, Files: &backup.Bucket{Client: client, At: at},
		Log: slog.New(slog.DiscardHandler),
		Progress: func(line string) {
			printed = append(printed, line)
			if strings.HasPrefix(line, "Postgres: ") {
				during()
			}
		},
	}
	b, err := backup.Open(backup.Config{}, deps, filepath.Join(dir, "backups", "of-tests"))
	require.NoError(t, err)

	during = func() {
		_, err := l.db.Unscoped().Exec(t.Context(), "DELETE FROM lead_magnets WHERE id = $1", deleted.LeadMagnetID)
		require.NoError(t, err)
		require.NoError(t, files.Sweep(t.Context()))
		require.Len(t, l.objects(), 1)
	}
	m, err := b.Create(t.Context())
	require.NoError(t, err)
	require.Equal(t, []backup.Gone{{ID: *deleted.ObjectID, LeadMagnetID: deleted.LeadMagnetID, Version: 1, Title: "x"}},
		m.Gone)
	require.Len(t, m.Files, 1)
	require.Equal(t, *kept.ObjectID, m.Files[0].ID)
	found, err := b.Find(t.Context(), m.Name)
	require.NoError(t, err)
	require.Equal(t, m.Gone, found.Gone)
	wrong, err := b.Check(t.Context(), found)
	require.NoError(t, err)
	require.Empty(t, wrong)

	lost, _ := l.add(files, 500)
	during = func() { require.NoError(t, os.Remove(filepath.Join(l.dir, "lodestone", lost.ObjectID.String()))) }
	_, err = b.Create(t.Context())
	require.ErrorContains(t, err, lost.ObjectID.String())

	// Everything is lost but the backup.
	for _, path := range l.objects() {
		require.NoError(t, os.Remove(path))
	}
	for _, database := range []string{"analytics", "lodestone_all", "lodestone"} {
		require.NoError(t, stack.Conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+database+" SYNC"))
	}
	l.db = enginetest.MigratedPostgres(t)
	deps.Postgres, printed, during = l.db, nil, func() {}
	b, err = backup.Open(backup.Config{}, deps, filepath.Join(dir, "backups", "of-tests"))
	require.NoError(t, err)
	_, err = b.Restore(t.Context(), found)
	require.NoError(t, err)
	require.Contains(t, printed,
		`not in the backup, since it was deleted while the backup was made: version 1 of the document "x" (lead magnet `+
			deleted.LeadMagnetID.String()+`)`)
	require.Len(t, l.objects(), 1)
	files = l.open(l.config)
	got, err := l.read(files, l.file(kept.LeadMagnetID))
	require.NoError(t, err)
	require.Equal(t, text, got)
	_, err = l.read(files, l.file(deleted.LeadMagnetID))
	require.ErrorIs(t, err, file.ErrGone)
}
