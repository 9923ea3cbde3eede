//go:build long

package replica_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/ingest/replica/replicatest"
	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// The clock of a server is compared with the newest row without reading the times of all rows.
func TestTheClockOfAServer(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, t.TempDir()) // since the newest row of all is asked for
	enginetest.Run(t, server)
	c := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), c)
	require.NoError(t, err)
	topology, err := clickhouse.NewTopology(c)
	require.NoError(t, err)
	r0 := replica.NewConn("r0", stream.Connection{Dial: topology.Dialer(1), Log: slog.New(slog.DiscardHandler)})
	defer r0.Close()
	conn := enginetest.Open(t, c)
	store := func(stored string, rows string) {
		t.Helper()
		require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at, stored_at) SETTINGS async_insert = 0, insert_allow_materialized_columns = 1 "+
			"SELECT number, now64(3), "+stored+" FROM numbers("+rows+")"))
	}
	now, stored, err := r0.Clock(t.Context())
	require.NoError(t, err)
	require.True(t, now.After(stored), "no row is stored")

	store("now64(3) - INTERVAL 2 HOUR", "50000")
	now, stored, err = r0.Clock(t.Context())
	require.NoError(t, err)
	require.True(t, now.After(stored), "no row of the last hour is")
	var lines []string
	rows, err := conn.Query(t.Context(), "EXPLAIN indexes = 1 "+replica.Clocks)
	require.NoError(t, err)
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	require.NoError(t, rows.Err())
	plan := strings.Join(lines, "\n")
	require.Regexp(t, `(?s)Name: stored\b.*?Granules: 0/\d+`, plan)

	store("fromUnixTimestamp64Milli(toInt64(1000 * intDiv(toUnixTimestamp64Milli(now64(3)), 1000)))", "1")
	now, stored, err = r0.Clock(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now, stored, time.Hour)
	require.True(t, now.After(stored))
	store("now64(3) + INTERVAL 2 HOUR", "1")
	now, stored, err = r0.Clock(t.Context())
	require.NoError(t, err)
	require.False(t, now.After(stored), "the clock of another writer was ahead")
}

func onCopies(t *testing.T, replicas int) (*enginetest.Copies, *enginetest.Stack, *replica.Cluster) {
	t.Helper()
	copies := enginetest.NewCopies(t, 1, replicas)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	return copies, stack, replicatest.Enrol(t, stack)
}

// A replica takes over that still has rows to change, which can take hours: it has the rows.
func TestATakeOverWaitsForNoMutation(t *testing.T) {
	t.Parallel()
	copies, _, cluster := onCopies(t, 2)
	first, second := copies.Servers[0][0].Conn(), copies.Servers[0][1].Conn()
	require.NoError(t, first.Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at) SETTINGS async_insert = 0 VALUES (1, now64(3))"))
	copies.Servers[0][1].Sync("events")
	require.NoError(t, second.Exec(t.Context(), "SYSTEM STOP MERGES lodestone.events"))
	require.NoError(t, second.Exec(t.Context(), "ALTER TABLE lodestone.events UPDATE user_agent = 'a' WHERE 1 SETTINGS mutations_sync = 0"))
	require.NoError(t, first.Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at) SETTINGS async_insert = 0 VALUES (2, now64(3))"))
	mover, closeAll, err := cluster.Mover(t.Context(), 1)
	require.NoError(t, err)
	defer closeAll()
	require.Eventually(t, func() bool {
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = mover.Move(limited, "r1")
		t.Log(err)
		return err == nil
	}, enginetest.Timeout, 50*time.Millisecond)
	var rows, changed uint64
	require.NoError(t, second.QueryRow(t.Context(), "SELECT count(), countIf(user_agent = 'a') FROM lodestone.events").Scan(&rows, &changed))
	require.EqualValues(t, 2, rows)
	require.Zero(t, changed)
}

// A replica whose own session in Keeper has ended does not know whether the writer has one. No one takes over on its word.
func TestAReplicaWithoutASessionKnowsOfNone(t *testing.T) {
	t.Parallel()
	copies, _, cluster := onCopies(t, 3)
	servers := copies.Servers[0]
	blind := replica.NewConn("r1", *cluster.Connect(1, "r1"))
	defer blind.Close()
	active, err := blind.Active(t.Context(), "r0")
	require.NoError(t, err)
	require.True(t, active)
	servers[1].EndSession()
	_, err = blind.Active(t.Context(), "r0")
	require.ErrorContains(t, err, "replica r1 has no session in Keeper itself")
	_, err = blind.Lag(t.Context())
	require.ErrorContains(t, err, "replica r1 has no session in Keeper itself")

	failover := replica.NewFailover(replica.FailoverDeps{Cluster: cluster, Log: slog.New(slog.DiscardHandler)})
	step := func() replica.Record {
		t.Helper()
		failover.SilentSince(1, "r0", time.Unix(0, 0))
		return afterStep(t, failover, cluster)
	}
	servers[2].EndSession()
	servers[0].CutFromClients()
	require.Equal(t, replica.Record{Shard: 1, Replicas: []string{"r0", "r1", "r2"}, Writer: "r0", Epoch: 1, Ready: true}, step(), "it may write")
	servers[1].Heal()
	require.Equal(t, "r0", step().Writer, "it has a session")
	servers[0].Cut()
	require.Equal(t, "r0", step().Writer, "one of three is no majority")
	servers[2].Heal()
	require.Eventually(t, func() bool { return step().Writer != "r0" }, enginetest.Timeout, 50*time.Millisecond)
}

// A writer that does not answer has its time for a restart, however long the one before it was silent.
func TestAWriterThatFollowsASilentOneHasItsTime(t *testing.T) {
	t.Parallel()
	copies, _, cluster := onCopies(t, 3)
	failover := replica.NewFailover(replica.FailoverDeps{Cluster: cluster, Log: slog.New(slog.DiscardHandler)})
	failover.SilentSince(1, "r0", time.Unix(0, 0))
	replicatest.Move(t, cluster, 1, "r1")
	copies.Servers[0][1].Cut()
	require.NoError(t, failover.Step(t.Context()))
	r, err := cluster.Read(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "r1", r.Writer)
	failover.SilentSince(1, "r1", time.Unix(0, 0))
	require.Eventually(t, func() bool { return afterStep(t, failover, cluster).Writer != "r1" }, enginetest.Timeout, 50*time.Millisecond)
}

// afterStep returns the record of the shard after one look, which may find that it has to wait.
func afterStep(t *testing.T, failover *replica.Failover, cluster *replica.Cluster) replica.Record {
	t.Helper()
	if err := failover.Step(t.Context()); err != nil {
		t.Log(err)
	}
	r, err := cluster.Read(t.Context(), 1)
	require.NoError(t, err)
	return r
}
