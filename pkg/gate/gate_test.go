package gate_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/gate"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var errUnread = errors.New("the log cannot be read")

// A database is served once it was compared with the log of erasures: not after a restart, which may have been one on restored files, and not
// after a dump was restored into it.
func TestARestoredDatabaseIsNotServed(t *testing.T) {
	t.Parallel()
	server := enginetest.NewPostgres(t, filepath.Join(enginetest.Dir(t), "restored"))
	start := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
		defer cancel()
		require.NoError(t, server.Start(ctx))
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), enginetest.Timeout)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	}
	start()
	t.Cleanup(stop)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: server.URL(), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pool.WithMigrationLock(t.Context(), func(ctx context.Context) error {
		_, err := pool.Migrate(ctx)
		return err
	}))
	g := gate.New(pool, slog.New(slog.DiscardHandler))
	require.True(t, problem.Is(g.Check(t.Context()), problem.Unavailable), "nothing is known yet")
	is := func(open bool) {
		t.Helper()
		got, err := g.Look(t.Context())
		require.NoError(t, err)
		require.Equal(t, open, got)
		require.Equal(t, open, g.Ready(t.Context()) == nil)
	}
	compare := func() {
		t.Helper()
		require.NoError(t, g.Compare(t.Context(), func() error { return nil }))
		is(true)
	}
	is(true) // it is new

	// A dump has the row.
	_, err = pool.Unscoped().Exec(t.Context(), `CREATE TABLE dump AS SELECT * FROM erasure_comparison; DELETE FROM erasure_comparison`)
	require.NoError(t, err)
	is(false)
	_, err = pool.Unscoped().Exec(t.Context(), `INSERT INTO erasure_comparison SELECT * FROM dump`)
	require.NoError(t, err)
	is(false)
	require.ErrorIs(t, g.Compare(t.Context(), func() error { return errUnread }), errUnread)
	is(false)
	compare()
	_, err = pool.Unscoped().Exec(t.Context(), "VACUUM (FULL, FREEZE) erasure_comparison")
	require.NoError(t, err)
	is(true)

	// The running service follows.
	require.NoError(t, g.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, g.Stop(context.Background())) })
	stop()
	require.Eventually(t, func() bool { return g.Ready(t.Context()) != nil }, enginetest.Timeout, 10*time.Millisecond)
	start()
	require.Eventually(t, func() bool { _, err := g.Look(t.Context()); return err == nil }, enginetest.Timeout, 10*time.Millisecond)
	is(false)
	compare()
}
