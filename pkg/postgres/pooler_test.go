//go:build long

package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// behind opens a pool that reaches the database through PgBouncer. It is wider than what PgBouncer
// has, so that transactions of many clients follow each other on each connection to Postgres.
func behind(t *testing.T, database string) *postgres.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: enginetest.PgBouncer(t, database), MaxConns: 24})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// The URL says that a pooler answers. Without the parameter, the error names it.
func TestTheURLNamesAPooler(t *testing.T) {
	t.Parallel()
	database := enginetest.Postgres(t)
	require.False(t, connect(t, database).IsPooled())
	pooled := behind(t, database)
	require.True(t, pooled.IsPooled())
	require.NoError(t, pooled.Ping(t.Context()))
	without, err := url.Parse(enginetest.PgBouncer(t, database))
	require.NoError(t, err)
	without.RawQuery = ""
	require.ErrorContains(t, connect(t, without.String()).Ping(t.Context()), "add default_query_exec_mode=cache_describe")
}

// The schema can be made over PgBouncer, also by two processes at the same time.
func TestMigrateBehindPgBouncer(t *testing.T) {
	t.Parallel()
	pool := behind(t, enginetest.Postgres(t))
	var wg sync.WaitGroup
	var applied [2][]int64
	for i := range applied {
		wg.Go(func() {
			if err := pool.WithMigrationLock(t.Context(), func(ctx context.Context) (err error) {
				applied[i], err = pool.Migrate(ctx)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.NotEmpty(t, append(applied[0], applied[1]...))
	require.True(t, len(applied[0]) == 0 || len(applied[1]) == 0)
	require.NoError(t, pool.CheckSchema(t.Context()))
}

// Transactions of accounts, of the installation and single statements share the few connections of
// PgBouncer. None of them sees the account, the role or the plan of another.
func TestAccountsStayApartBehindPgBouncer(t *testing.T) {
	t.Parallel()
	database := enginetest.Postgres(t)
	pool := behind(t, database)
	migrate(t, pool)
	accounts := []uuid.UUID{populate(t, pool), populate(t, pool), populate(t, pool)}
	var wg sync.WaitGroup
	for worker := range 24 {
		wg.Go(func() {
			for i := range 40 {
				if err := visit(t.Context(), pool, accounts[(worker+i)%len(accounts)], len(accounts)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	// PgBouncer's own connections are clean: a client that it serves next has the rights that it
	// logged in with.
	var account *string
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
		"SELECT nullif(current_setting('lodestone.account_id', true), '')").Scan(&account))
	require.Nil(t, account)
}

// visit asserts what one account sees, what the installation sees next, and that a transaction that
// failed takes its scope with it.
func visit(ctx context.Context, pool *postgres.Pool, account uuid.UUID, accounts int) error {
	if err := pool.Account(ctx, account, func(tx pgx.Tx) error {
		var links, foreign int
		if err := tx.QueryRow(ctx, "SELECT count(*), count(*) FILTER (WHERE account_id <> $1) FROM access_links",
			account).Scan(&links, &foreign); err != nil {
			return err
		}
		if links != 1 || foreign != 0 {
			return fmt.Errorf("account %s sees %d links, %d of others", account, links, foreign)
		}
		_, err := tx.Exec(ctx, "UPDATE access_links SET opened_count = opened_count + 1")
		return err
	}); err != nil {
		return err
	}
	if err := pool.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT 1 / 0")
		return err
	}); err == nil || postgres.IsUnavailable(err) {
		return fmt.Errorf("a division by zero: %w", err)
	}
	var role string
	var links int
	if err := pool.Unscoped().QueryRow(ctx, "SELECT current_user, (SELECT count(*) FROM access_links)").Scan(&role,
		&links); err != nil {
		return err
	}
	if role == "lodestone_account" || links != accounts {
		return fmt.Errorf("the installation is %s and sees %d links", role, links)
	}
	return nil
}

// A statement is planned for the values of each call, with and without a pooler: the calls before,
// which needed all rows, do not make Postgres keep a plan that reads all rows.
func TestStatementsArePlannedForTheirValues(t *testing.T) {
	t.Parallel()
	database := enginetest.Postgres(t)
	for name, pool := range map[string]*postgres.Pool{"direct": connect(t, database), "pooled": behind(t, database)} {
		require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(),
				"CREATE TABLE "+name+" AS SELECT i AS id, 'x' AS filler FROM generate_series(1, 20000) i; CREATE INDEX ON "+
					name+" (id); ANALYZE "+name)
			require.NoError(t, err)
			query := "SELECT count(filler) FROM " + name + " WHERE ($1::int IS NULL OR id = $1)"
			for range 10 { // more than the calls after which Postgres may choose a plan for any values
				var all int
				require.NoError(t, tx.QueryRow(t.Context(), query, nil).Scan(&all))
			}
			for range 4 {
				var one int
				require.NoError(t, tx.QueryRow(t.Context(), query, 7).Scan(&one))
				require.Equal(t, 1, one)
			}
			var byIndex int
			require.NoError(t, tx.QueryRow(t.Context(), "SELECT idx_scan FROM pg_stat_xact_user_tables WHERE relname = $1",
				name).Scan(&byIndex))
			require.Equal(t, 4, byIndex, name)
			return nil
		}))
	}
}
