package retention_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/retention"
	"lodestone/pkg/test/enginetest"
)

// ClickHouse works while a lock is held, so its transaction may do nothing for longer than Postgres
// lets others.
func TestLocksAreHeldWhileNothingIsAsked(t *testing.T) {
	t.Parallel()
	pool := enginetest.PostgresPool(t, enginetest.Postgres(t))
	for name, lock := range map[string]func(context.Context, pgx.Tx) error{
		"alone":  retention.Lock,
		"shared": retention.Share,
		"at once": func(ctx context.Context, tx pgx.Tx) error {
			_, err := retention.TryShare(ctx, tx)
			return err
		},
	} {
		err := pool.Transaction(t.Context(), func(tx pgx.Tx) error {
			limit := func() (text string) {
				require.NoError(t, tx.QueryRow(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&text))
				return text
			}
			_, err := tx.Exec(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = '5min'")
			require.NoError(t, err)
			require.Equal(t, "5min", limit(), name)
			require.NoError(t, lock(t.Context(), tx), name)
			require.Equal(t, "0", limit(), name)
			return nil
		})
		require.NoError(t, err)
	}
}
