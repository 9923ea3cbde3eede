package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/test/enginetest"
)

func newSet(t *testing.T, dir string) *engine.Set {
	t.Helper()
	return engine.NewSet(config(dir, enginetest.Launcher(t), freePorts(t)), engine.Deps{Runtime: enginetest.Runtime()})
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
	set := engine.NewSet(c, engine.Deps{Runtime: enginetest.Runtime()})
	startFor(t, set)
	require.Equal(t, c.PostgresURL, set.PostgresURL())
	require.Equal(t, c.KafkaBrokers, set.Kafka().Brokers)
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
	set := engine.NewSet(c, engine.Deps{Runtime: enginetest.Runtime()})
	startFor(t, set)
	_, err := kadm.NewClient(kafkaClient(t, set.Kafka())).ListTopics(context.Background())
	require.NoError(t, err)
}

func TestOneFailureStopsTheOthers(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	c := config(dir, "/no/launcher", freePorts(t))
	set := engine.NewSet(c, engine.Deps{Runtime: enginetest.Runtime()})
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
	for _, want := range []string{"--data", "--postgres-url", "--clickhouse-http-url", "--sql-url",
		"--postgres-port", "--clickhouse-port"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "secret")
}

func TestUnwritableDirectorySaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := newSet(t, filepath.Join(file, "data")).Start(context.Background())
	require.ErrorContains(t, err, "--data (LODESTONE_DATA)")
	require.ErrorContains(t, err, "name a directory that the user of this process may write to")
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
	require.Equal(t, []int{15432, 19092, 19000, 18123},
		[]int{c.PostgresPort, c.KafkaPort, c.ClickHousePort, c.ClickHouseHTTPPort})
}

// tree returns the processes below one, the nearest first.
func tree(t *testing.T, root int) []int {
	t.Helper()
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended since
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, err := strconv.Atoi(fields[1])
		require.NoError(t, err)
		children[parent] = append(children[parent], pid)
	}
	found := children[root]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// Whatever is killed first, and however soon the next start comes: it needs no one.
func TestStartsAgainAtOnceAfterTheKillOfEveryProcess(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	process, at := up(t, dir)
	run(t, at.Postgres, "SET synchronous_commit = on", "CREATE TABLE t (x int)")
	for round, order := range []struct {
		name string
		of   func(up, clickhouse, postgres int, all []int) []int
	}{
		{"parent first", func(up, _, _ int, all []int) []int { return append([]int{up}, all...) }},
		{"grandchildren", func(up, _, _ int, all []int) []int { slices.Reverse(all); return append(all, up) }},
		{"postgres, parent", func(up, _, postgres int, _ []int) []int { return []int{postgres, up} }},
		{"clickhouse", func(up, clickhouse, _ int, _ []int) []int { return []int{clickhouse, up} }},
	} {
		run(t, at.Postgres, "SET synchronous_commit = on", fmt.Sprintf("INSERT INTO t VALUES (%d)", round))
		for _, pid := range order.of(process.Process.Pid, pidOf(t, dir, "clickhouse"), pidOf(t, dir, "postgres"),
			tree(t, process.Process.Pid)) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with one before
		}
		require.Error(t, process.Wait(), order.name)
		var again running
		process, again = up(t, dir)
		require.Equal(t, at, again, "%s: addresses and passwords stay", order.name)
		require.Equal(t, round+1, scan[int](t, at.Postgres, "SELECT count(*) FROM t"), order.name)
		must(t, at.HTTP, "SELECT 1")
	}
}

// What a server leaves behind that was killed between two steps of its start, or whose record was
// lost.
func TestPostgresStartsBesideALeftServer(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	first := enginetest.NewPostgres(t, dir)
	require.NoError(t, first.Start(context.Background()))
	pid, file := first.PID(), filepath.Join(dir, "cluster", "data", "postmaster.pid")
	require.NoError(t, os.Remove(filepath.Join(dir, "postgres.pid")))
	require.NoError(t, os.Remove(filepath.Join(dir, "lock"))) // as if whoever started it was killed
	second := enginetest.NewPostgres(t, dir)
	startFor(t, second)
	require.NotEqual(t, pid, second.PID())
	require.NoError(t, second.Stop(context.Background()))
	require.NoError(t, first.Stop(context.Background()))

	require.NoError(t, os.WriteFile(file, nil, 0o600))
	third := enginetest.NewPostgres(t, dir)
	startFor(t, third)
	require.Equal(t, 1, scan[int](t, third.URL(), "SELECT 1"))
}

func TestFailedStartLeavesNoLock(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	set := newSet(t, dir)
	require.NoError(t, set.Take())
	require.FileExists(t, filepath.Join(dir, "lock"))
	require.ErrorIs(t, newSet(t, dir).Take(), engine.ErrInUse)
	require.NoError(t, set.Stop(context.Background()))
	require.NoFileExists(t, filepath.Join(dir, "lock"))
	require.NoError(t, newSet(t, dir).Take())
}

// ClickHouse writes nothing in the last GiB of a disk.
func TestStartAsksForTheDiskThatClickHouseNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := newSet(t, dir)
	set.SetFree(func(string) (int64, error) { return 1100 << 20, nil })
	err := set.Start(context.Background())
	require.ErrorContains(t, err, "has only 1100 MiB free, and the engines need 1280 MiB")
	require.NoFileExists(t, filepath.Join(dir, "lock"))
}
