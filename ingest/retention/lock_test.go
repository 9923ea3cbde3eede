package retention_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/retention"
	"lodestone/pkg/engine/enginetest"
)

// ClickHouse works while a lock is held, so its transaction may do nothing for longer than Postgres lets others.
func TestLocksAreHeldWhileNothingIsAsked(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]func(context.Context, pgx.Tx) error{
		"alone":  retention.Lock,
		"shared": retention.Share,
		"at once": func(ctx context.Context, tx pgx.Tx) error {
			shared, err := retention.TryShare(ctx, tx)
			require.True(t, shared)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := enginetest.PostgresPool(t, enginetest.Postgres(t))
			_, err := pool.Unscoped().Exec(t.Context(), "DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = 100', current_database()); END $do$")
			require.NoError(t, err)
			pool.Unscoped().Reset() // sessions read it when they begin
			require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
				require.NoError(t, lock(t.Context(), tx))
				var held string
				require.Eventually(t, func() bool {
					require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `
						SELECT coalesce(max(CASE WHEN a.state_change < clock_timestamp() - interval '300 ms' THEN 'idle' ELSE 'new' END), 'lost')
						FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.datname = current_database() AND l.locktype = 'advisory'`).Scan(&held))
					return held != "new"
				}, waitLimit, 10*time.Millisecond)
				require.Equal(t, "idle", held)
				return nil
			}))
		})
	}
}
