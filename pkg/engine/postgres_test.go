package engine_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/test/enginetest"
)

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, address string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	for _, sql := range statements {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	require.NoError(t, conn.Close(ctx))
}

func scan[T any](t *testing.T, address, sql string) (value T) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	require.NoError(t, conn.QueryRow(ctx, sql).Scan(&value), sql)
	require.NoError(t, conn.Close(ctx))
	return value
}

func TestKilledPostgresComesBackWithItsData(t *testing.T) {
	t.Parallel()
	events := make(chan engine.Event, 10)
	runtime := enginetest.Runtime()
	runtime.Observe = func(e engine.Event) { events <- e }
	server := engine.NewPostgres(engine.PostgresConfig{ // with fsync, as `lodestone up` has it
		Runtime: runtime, Dir: enginetest.Dir(t), Port: enginetest.FreePort(t), Installer: enginetest.Installer(t),
	})
	startFor(t, server)
	require.Equal(t, child.Started, (<-events).Kind)
	run(t, server.URL(), "CREATE TABLE t AS SELECT generate_series(1, 1000) AS x")
	require.Equal(t, "on", scan[string](t, server.URL(), "SHOW fsync"))
	before := server.URL()

	killPID(t, server.PID())
	require.Equal(t, child.Died, nextChange(events).Kind)
	for e := range events { // the killed server's own children may keep the next one away at first
		if e.Kind == child.Restarted {
			break
		}
	}
	require.Equal(t, before, server.URL())
	require.Equal(t, 1000, scan[int](t, server.URL(), "SELECT count(*) FROM t"))
}

// onLine calls itself with each line of a log.
type onLine func(line string)

func (f onLine) Write(line []byte) (int, error) {
	f(string(line))
	return len(line), nil
}

// A killed server leaves processes of its own, which end when they next look up from their work.
func TestPostgresStartsAfterWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	options := engine.PostgresConfig{ // with fsync, as `lodestone up` has it
		Runtime: enginetest.Runtime(), Dir: enginetest.Dir(t), Port: enginetest.FreePort(t),
		Installer: enginetest.Installer(t),
	}
	killed := engine.NewPostgres(options)
	startFor(t, killed)
	run(t, killed.URL(), "CREATE TABLE t AS SELECT 1 AS x")
	left := int(connect(t, killed.URL()).PgConn().PID())
	require.NoError(t, syscall.Kill(left, syscall.SIGSTOP))
	killPID(t, killed.PID())
	require.NoError(t, killed.Stop(context.Background()))

	var woken []error
	options.Log = slog.New(slog.NewTextHandler(onLine(func(line string) {
		if strings.Contains(line, "pre-existing shared memory block") {
			woken = append(woken, syscall.Kill(left, syscall.SIGCONT))
		}
	}), nil))
	server := engine.NewPostgres(options)
	startFor(t, server)
	require.NotEmpty(t, woken, "nothing was in the way")
	require.NoError(t, woken[0])
	require.Equal(t, 1, scan[int](t, server.URL(), "SELECT x FROM t"))
}

func TestOurRoleOwnsItsDatabaseAndLittleElse(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	server := enginetest.NewPostgres(t, dir)
	startFor(t, server)
	run(t, server.URL(), "CREATE TABLE t (x int)", "CREATE ROLE part LOGIN", "CREATE SCHEMA s",
		"CREATE UNLOGGED TABLE u (x int)")
	require.False(t, scan[bool](t, server.URL(), "SELECT rolsuper FROM pg_roles WHERE rolname = 'lodestone'"))
	require.True(t, scan[bool](t, server.URL(), "SELECT lower('ÄÖÜ') = 'äöü'"))
	_, err := connect(t, server.URL()).Exec(context.Background(), "COPY (SELECT 1) TO PROGRAM 'true'")
	require.Error(t, err)

	// Every way in needs the password.
	u, err := url.Parse(server.URL())
	require.NoError(t, err)
	for _, user := range []string{"lodestone", "postgres"} {
		u.User = url.UserPassword(user, "a wrong one")
		_, err := pgx.Connect(context.Background(), u.String())
		require.ErrorContains(t, err, "password authentication failed")
	}
	info, err := os.Stat(filepath.Join(dir, "passwords.json"))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestPackagedPostgresWorks(t *testing.T) {
	t.Parallel()
	installer := enginetest.Installer(t)
	installer.PackagedOnly = true
	server := engine.NewPostgres(engine.PostgresConfig{Runtime: enginetest.Runtime(), Dir: enginetest.Dir(t),
		NoSync: true, Installer: installer})
	startFor(t, server)
	run(t, server.URL(), "CREATE TABLE t (x int)")
	require.GreaterOrEqual(t, scan[int](t, server.URL(), "SELECT current_setting('server_version_num')::int"), 180000)
}

// A machine's own PostgreSQL may be removed by its next update, and only its version opens the
// data: a warning at the first start says so, once.
func TestTheMachinesPostgresIsNamedWhenItMakesTheDatabase(t *testing.T) {
	installer := enginetest.Installer(t)
	installer.PackagedOnly = true
	packaged, err := installer.Postgres(t.Context(), 0)
	require.NoError(t, err)
	t.Setenv("PATH", packaged.Bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir := enginetest.Dir(t)
	warnings := func(packagedOnly bool) string {
		var log strings.Builder
		runtime := enginetest.Runtime()
		runtime.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		installer := enginetest.Installer(t)
		installer.PackagedOnly = packagedOnly
		server := engine.NewPostgres(engine.PostgresConfig{Runtime: runtime, Dir: dir, Port: enginetest.FreePort(t),
			NoSync: true, Installer: installer})
		require.NoError(t, server.Start(t.Context()))
		require.NoError(t, server.Stop(context.Background()))
		return log.String()
	}
	require.Regexp(t, `level=WARN msg="[^"]*keep this version installed[^"]*" version=\d+ directory=`+
		regexp.QuoteMeta(packaged.Bin), warnings(false))
	require.NotContains(t, warnings(false), "keep that version", "the database exists")
	dir = enginetest.Dir(t)
	require.NotContains(t, warnings(true), "keep that version")
}

func TestInterruptedInitialisationIsRepeated(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cluster", "data.new"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cluster", "data.new", "PG_VERSION"), []byte("15\n"), 0o644))
	server := enginetest.NewPostgres(t, dir)
	startFor(t, server)
	run(t, server.URL(), "CREATE TABLE t (x int)")
}

func TestPostgresWhereItsUserCannotGo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // an ordinary user runs PostgreSQL as itself
	}
	closed := filepath.Join(enginetest.Dir(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	dir := filepath.Join(closed, "data")
	first := enginetest.NewPostgres(t, dir)
	require.NoError(t, first.Start(context.Background()))
	place, err := os.ReadFile(filepath.Join(dir, "location"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.RemoveDir(string(place[:len(place)-1]))) })
	run(t, first.URL(), "CREATE TABLE t (x int)")
	require.NoError(t, first.Stop(context.Background()))

	second := enginetest.NewPostgres(t, dir)
	startFor(t, second)
	require.Equal(t, first.URL(), second.URL())
	run(t, second.URL(), "INSERT INTO t VALUES (1)")
}

func TestLostPasswordsAreExplained(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	first := enginetest.NewPostgres(t, dir)
	require.NoError(t, first.Start(context.Background()))
	require.NoError(t, first.Stop(context.Background()))
	require.NoError(t, os.Remove(filepath.Join(dir, "passwords.json")))
	err := enginetest.NewPostgres(t, dir).Start(context.Background())
	require.ErrorContains(t, err, "put that one back")
}
