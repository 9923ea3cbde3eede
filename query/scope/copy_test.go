package scope_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// Two servers are copies of each other. To tell them apart, the second one has an event more.
func TestAnotherCopyAnswersForOneThatIsAway(t *testing.T) {
	t.Parallel()
	ctx, pool, account := t.Context(), enginetest.MigratedPostgres(t), querytest.ID(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Unscoped().Exec(context.Background(), sql, args...)
		require.NoError(t, err)
	}
	exec("SELECT add_copy(2)")
	dir := enginetest.Dir(t)
	first := enginetest.NewClickHouse(t, dir)
	second := enginetest.NewClickHouse(t, enginetest.Dir(t))
	require.NoError(t, first.Start(ctx))
	require.NoError(t, second.Start(ctx))
	t.Cleanup(func() {
		require.NoError(t, errors.Join(first.Stop(context.Background()), second.Stop(context.Background())))
	})
	configs := []clickhouse.Config{{URL: first.URL()}, {URL: second.URL(), Copy: 2}}
	for i, c := range configs {
		_, err := clickhouse.Migrate(ctx, c)
		require.NoError(t, err)
		storeRows(t, enginetest.Open(t, c), 0, 3+i, account)
	}
	copies := scope.NewCopies(scope.CopiesConfig{Of: configs, MaxLag: 2 * time.Second},
		scope.CopiesDeps{Postgres: pool, Log: querytest.Log()})
	fresh := func() { exec("UPDATE copies SET stored_until = clock_timestamp()") }
	fresh()
	require.NoError(t, copies.Start(ctx))
	t.Cleanup(func() { require.NoError(t, copies.Stop(context.Background())) })
	ch, err := scope.OpenCopies(copies, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })

	const sql = "SELECT count() FROM lodestone.events"
	ask := func(ctx context.Context) (n uint64, err error) {
		err = ch.Query(ctx, account, scope.Statement{Name: "test", SQL: sql},
			func(row scope.Row) error { return row.Scan(&n) })
		return n, err
	}
	is := func(want uint64, of string) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, err := pool.Unscoped().Exec(context.Background(),
				"UPDATE copies SET stored_until = clock_timestamp() WHERE copy::text = ANY (string_to_array($1, ','))", of)
			require.NoError(t, err)
			n, err := ask(scope.Pin(ctx))
			return err == nil && n == want
		}, enginetest.Timeout, 100*time.Millisecond)
	}
	n, err := ask(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	is(4, "2") // the first one falls behind
	is(3, "1,2")

	request := scope.Pin(ctx)
	n, err = ask(request)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	require.NoError(t, first.Stop(ctx))
	n, err = ask(scope.Pin(ctx))
	require.NoError(t, err, "no one notices")
	require.EqualValues(t, 4, n)
	_, err = ask(request)
	require.True(t, scope.IsUnavailable(err), "an answer is of one copy: %v", err)

	first = enginetest.NewClickHouse(t, dir)
	require.NoError(t, first.Start(ctx))
	is(3, "1,2")
}

// A server under the address of another copy is not read.
func TestAServerOfAnotherCopyIsNotRead(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), enginetest.MigratedPostgres(t)
	_, err := pool.Unscoped().Exec(ctx, "UPDATE copies SET stored_until = clock_timestamp()")
	require.NoError(t, err)
	own := enginetest.MigratedClickHouse(t)
	wrong := own
	wrong.Copy = 2
	copies := scope.NewCopies(scope.CopiesConfig{Of: []clickhouse.Config{wrong, own}, MaxLag: time.Minute},
		scope.CopiesDeps{Postgres: pool, Log: querytest.Log()})
	require.NoError(t, copies.Start(ctx)) // has looked once
	t.Cleanup(func() { require.NoError(t, copies.Stop(context.Background())) })
	ch, err := scope.OpenCopies(copies, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	require.EqualValues(t, 1, ch.Copy(ctx))
}
