//go:build long

package queue_test

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/queue"
	"lodestone/pkg/test/enginetest"
)

// Behind PgBouncer nothing is notified: jobs are looked for, and still run soon after the commit.
func TestJobsRunBehindPgBouncer(t *testing.T) {
	t.Parallel()
	database := enginetest.MigratedPostgresURL(t)
	pool := enginetest.PostgresPool(t, enginetest.PgBouncer(t, database))
	f := &fixture{worker: &worker{got: make(chan greeting, 100)}, metrics: prometheus.NewRegistry()}
	var err error
	f.Queue, err = queue.New(queue.Config{},
		queue.Deps{Postgres: pool, Log: slog.New(slog.DiscardHandler), Registerer: f.metrics})
	require.NoError(t, err)
	require.NoError(t, f.AddQueue("greetings", 4))
	require.NoError(t, queue.Register(f.Queue, f.worker))
	f.begin(t)
	for _, text := range []string{"first", "second"} {
		require.NoError(t, pool.Account(t.Context(), uuid.New(), func(tx pgx.Tx) error {
			var account uuid.UUID
			require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_setting('lodestone.account_id')::uuid").Scan(&account))
			return f.insert(t.Context(), tx, greeting{account, text})
		}))
		require.Equal(t, text, (<-f.got).Text)
	}
	var listening int
	require.NoError(t, enginetest.PostgresPool(t, database).Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'").Scan(
		&listening))
	require.Zero(t, listening)
}
