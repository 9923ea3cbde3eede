package postgres_test

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// A migration waits for the lock of a table that a long transaction reads. Those who write to the
// table go on all the same, and the migration is done once the transaction has ended.
func TestAMigrationThatWaitsStopsNoWriter(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: enginetest.MigratedPostgresURL(t), MaxConns: 8})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	first, err := os.ReadFile("migrations/00205_schema.sql")
	require.NoError(t, err)
	migrations := fstest.MapFS{
		"migrations/00205_schema.sql": {Data: first},
		"migrations/99999_column.sql": {Data: []byte(
			"-- +goose Up\nALTER TABLE event_usage ADD COLUMN warned boolean NOT NULL DEFAULT false;\n")},
	}
	account := uuid.New()
	exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'A', 'team')", account)
	exec("INSERT INTO event_usage (account_id, month, events) VALUES ($1, '2026-03-01', 0)", account)

	reader, err := pool.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	_, err = reader.Exec(t.Context(), "SELECT FROM event_usage")
	require.NoError(t, err)
	done := make(chan []int64, 1)
	go func() {
		applied, err := pool.MigrateBy(t.Context(), migrations)
		if err != nil {
			t.Error(err)
		}
		done <- applied
	}()
	waits := func() (waits bool) {
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
			"SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'event_usage'::regclass AND mode = 'AccessExclusiveLock')").Scan(&waits))
		return waits
	}
	for range 3 { // each write meets a try of the migration
		require.Eventually(t, waits, enginetest.Timeout, 10*time.Millisecond)
		exec("UPDATE event_usage SET events = events + 1")
	}
	require.Empty(t, done)
	require.NoError(t, reader.Rollback(t.Context()))
	require.Contains(t, <-done, int64(99999))
	require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
		var events int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT events FROM event_usage WHERE NOT warned").Scan(&events))
		require.Equal(t, 3, events)
		var limit string // of this transaction: the migration's is gone with it
		require.NoError(t, tx.QueryRow(t.Context(), "SHOW lock_timeout").Scan(&limit))
		require.Equal(t, "0", limit)
		return nil
	}))
}
