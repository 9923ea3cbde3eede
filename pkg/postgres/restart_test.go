package postgres_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// Postgres ended every connection that the pool holds, as a restart does: no caller notices.
func TestTransactionsBeginOnLivingConnections(t *testing.T) {
	t.Parallel()
	url := enginetest.Postgres(t)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrate(t, pool)
	admin, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, admin.Close(context.Background())) })
	terminate := func(c *pgx.Conn) {
		var ended bool
		require.NoError(t, admin.QueryRow(t.Context(), "SELECT pg_terminate_backend($1, 60000)",
			c.PgConn().PID()).Scan(&ended))
		require.True(t, ended)
	}
	cut := func(c *pgx.Conn) { require.NoError(t, c.PgConn().Conn().Close()) } // without a word, as by a crash
	for name, run := range map[string]func(fn func(tx pgx.Tx) error) error{
		"Transaction":     func(fn func(tx pgx.Tx) error) error { return pool.Transaction(t.Context(), fn) },
		"Account":         func(fn func(tx pgx.Tx) error) error { return pool.Account(t.Context(), uuid.New(), fn) },
		"AccountSnapshot": func(fn func(tx pgx.Tx) error) error { return pool.AccountSnapshot(t.Context(), uuid.New(), fn) },
	} {
		for _, end := range []func(*pgx.Conn){terminate, cut} {
			endAll(t, pool, end)
			calls := 0
			require.NoError(t, run(func(tx pgx.Tx) error {
				calls++
				_, err := tx.Exec(t.Context(), "SELECT 1")
				return err
			}), name)
			require.Equal(t, 1, calls, name)
		}
	}
}

// endAll fills the pool and ends all its connections.
func endAll(t *testing.T, pool *postgres.Pool, end func(*pgx.Conn)) {
	t.Helper()
	var held []*pgxpool.Conn
	defer func() {
		for _, c := range held {
			c.Release()
		}
	}()
	for range 4 {
		c, err := pool.Unscoped().Acquire(t.Context())
		require.NoError(t, err)
		held = append(held, c)
	}
	for _, c := range held {
		end(c.Conn())
	}
}
