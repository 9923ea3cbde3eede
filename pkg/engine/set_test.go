package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/enginetest"
)

func newSet(t *testing.T, dir string) *engine.Set {
	t.Helper()
	return engine.NewSet(config(dir, enginetest.Launcher(t), freePorts(t)), enginetest.Runtime(), nil)
}

func TestEverythingEndsWithTheKilledParentAndContinues(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	process, at := up(t, dir)
	must(t, at.HTTP, "CREATE TABLE default.t (x UInt64) ENGINE = MergeTree ORDER BY x")
	must(t, at.HTTP, "INSERT INTO default.t SELECT number FROM numbers(7)")
	run(t, at.Postgres, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (7)")
	children := []int{pidOf(t, dir, "clickhouse"), pidOf(t, dir, "postgres")}
	for _, pid := range children {
		require.True(t, alive(pid))
	}

	kill(t, process)
	for _, pid := range children {
		eventually(t, func() bool { return !alive(pid) }, "child "+strconv.Itoa(pid)+" ends")
	}

	_, again := up(t, dir)
	require.Equal(t, at, again, "addresses and passwords stay")
	require.Equal(t, "7", must(t, again.HTTP, "SELECT count() FROM default.t"))
	require.Equal(t, 7, scan[int](t, again.Postgres, "SELECT x FROM t"))
}

func TestSecondStartOnADirectoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	process, at := up(t, dir)
	err := newSet(t, dir).Start(context.Background())
	require.ErrorIs(t, err, engine.ErrInUse)
	require.ErrorContains(t, err, "process "+strconv.Itoa(process.Process.Pid))
	require.ErrorContains(t, err, "--data")
	must(t, at.HTTP, "SELECT 1") // the first is not disturbed
	kill(t, process)

	set := newSet(t, dir)
	startFor(t, set) // nothing has to be cleaned up by hand
}

func TestStopEndsEveryChildAndFreesTheDirectory(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	set := newSet(t, dir)
	require.NoError(t, set.Start(context.Background()))
	children := []int{pidOf(t, dir, "clickhouse"), pidOf(t, dir, "postgres")}
	require.NoError(t, set.Stop(context.Background()))
	for _, pid := range children {
		require.False(t, alive(pid))
	}
	require.NoError(t, set.Stop(context.Background()), "twice")
	require.NoError(t, set.Start(context.Background()), "again")
	require.NoError(t, set.Stop(context.Background()))
}

func TestEnginesGivenByAddressAreUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config(dir, "/no/launcher", freePorts(t))
	c.PostgresURL = "postgres://user:password@127.0.0.1:1/elsewhere"
	c.KafkaBrokers = []string{"127.0.0.1:2", "127.0.0.1:3"}
	c.ClickHouseURL = "clickhouse://user:password@127.0.0.1:4/lodestone"
	c.SQLURL = "http://analyst:password@127.0.0.1:5/?database=analytics"
	require.NoError(t, c.Validate())
	set := engine.NewSet(c, enginetest.Runtime(), nil)
	startFor(t, set)
	require.Equal(t, c.PostgresURL, set.PostgresURL())
	require.Equal(t, c.KafkaBrokers, set.KafkaBrokers())
	require.Equal(t, c.ClickHouseURL, set.ClickHouseURL())
	require.Empty(t, set.ClickHouseHTTPURL())
	require.Equal(t, c.SQLURL, set.SQLURL())
	for _, name := range []string{"postgres", "kafka", "clickhouse"} {
		require.NoDirExists(t, filepath.Join(dir, name))
	}
}

func TestOnlyTheMissingEngineIsStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config(dir, "/no/launcher", freePorts(t))
	c.PostgresURL = "postgres://user:password@127.0.0.1:1/elsewhere"
	c.ClickHouseURL = "clickhouse://user:password@127.0.0.1:4/lodestone"
	set := engine.NewSet(c, enginetest.Runtime(), nil)
	startFor(t, set)
	_, err := kadm.NewClient(kafkaClient(t, set.KafkaBrokers())).ListTopics(context.Background())
	require.NoError(t, err)
}

func TestOneFailureStopsTheOthers(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	c := config(dir, "/no/launcher", freePorts(t))
	set := engine.NewSet(c, enginetest.Runtime(), nil)
	err := set.Start(context.Background())
	require.ErrorContains(t, err, "/no/launcher")
	startFor(t, newSet(t, dir)) // so the directory is free, and so are the engines'
}

func TestWrongSettingsAreAllNamed(t *testing.T) {
	t.Parallel()
	err := engine.Config{
		PostgresURL: "mysql://secret@host/x", SQLURL: "http://user:secret@host/", ClickHouseHTTPURL: "host:1",
		PostgresPort: 70000, KafkaPort: 5, ClickHousePort: 5,
	}.Validate()
	for _, want := range []string{"--data", "--postgres-url", "--clickhouse-http-url", "--sql-url", "--postgres-port", "--clickhouse-port"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "secret")
}

func TestUnwritableDirectorySaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := newSet(t, filepath.Join(file, "data")).Start(context.Background())
	require.ErrorContains(t, err, "open the data directory")
}

func TestObserverCounts(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	observe, err := engine.Observer(registry)
	require.NoError(t, err)
	observe(engine.Event{Name: "clickhouse", Kind: child.Died})
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Equal(t, "lodestone_engine_events_total", families[0].GetName())
	total := 0.0
	for _, m := range families[0].GetMetric() {
		total += m.GetCounter().GetValue()
	}
	require.InDelta(t, 1, total, 0)
}

func TestDefaultSettingsAreValid(t *testing.T) {
	t.Parallel()
	var c engine.Config
	parser, err := kong.New(&c)
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	require.NoError(t, c.Validate())
	require.Equal(t, "./data", c.Data)
	require.Equal(t, []int{15432, 19092, 19000, 18123}, []int{c.PostgresPort, c.KafkaPort, c.ClickHousePort, c.ClickHouseHTTPPort})
}
