//go:build long

package clickhouse_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
)

// schemaOf lists what a server has.
func schemaOf(t *testing.T, conn driver.Conn) []string {
	t.Helper()
	return texts(t, conn, `SELECT database || '.' || table || ' ' || name || ' ' || type || ' ' || default_kind || ' ' || default_expression FROM system.columns
		WHERE database IN ('lodestone', 'analytics', 'lodestone_all') ORDER BY database, table, position`)
}

// Migrations run on one replica, and the others copy what it has: tables, views and the fence. A second run changes nothing.
func TestAShardOfReplicasIsMigrated(t *testing.T) {
	t.Parallel()
	c := enginetest.NewCopies(t, 1, 2)
	wrong, err := clickhouse.Unsuitable(t.Context(), c.Config)
	require.NoError(t, err)
	require.Contains(t, wrong, c.Servers[0][1].Address()+" has no macro installation", "these servers have no Keeper")
	require.NotContains(t, wrong, c.Servers[0][1].Address()+" has no macro replica")
	applied, err := clickhouse.Migrate(t.Context(), c.Config)
	require.NoError(t, err)
	require.NotEmpty(t, applied)
	first, second := c.Servers[0][0].Conn(), c.Servers[0][1].Conn()
	require.Equal(t, schemaOf(t, first), schemaOf(t, second))
	c.Servers[0][1].Sync("goose_db_version")
	pending, err := clickhouse.Pending(t.Context(), c.Config)
	require.NoError(t, err)
	require.Empty(t, pending)

	_, _, err = clickhouse.Unconfined(t.Context(), c.Config)
	require.NoError(t, err, "before there is a record of who writes")

	other := c.Config
	other.Shards = c.Servers[0][1].Address() + "," + c.Servers[0][0].Address()
	applied, err = clickhouse.Migrate(t.Context(), other)
	require.NoError(t, err)
	require.Empty(t, applied, "the order of the addresses changes nothing")

	require.NoError(t, second.Exec(t.Context(), "DROP VIEW analytics.events"))
	_, err = clickhouse.Migrate(t.Context(), c.Config)
	require.NoError(t, err)
	require.Equal(t, schemaOf(t, first), schemaOf(t, second), "what a replica lacks comes back")
	require.NoError(t, first.Exec(t.Context(), "INSERT INTO lodestone.closed_epochs (epoch, closed) SETTINGS async_insert = 0 VALUES (4, 1)"))
	const insert = "INSERT INTO lodestone.events (kafka_offset, created_at, writer_epoch) SETTINGS async_insert = 0 VALUES (1, now64(3), 4)"
	require.ErrorContains(t, first.Exec(t.Context(), insert), "the writer of the insert was replaced")
	require.NoError(t, second.Exec(t.Context(), insert), "each replica has a list of its own")
}

// Tables of one server do not become replicated because an address was added.
func TestPlainTablesAreNoReplicas(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	c := shards.Config
	c.Shards = c.Shards[:len(c.Shards)/2] + "," + c.Shards[len(c.Shards)/2+1:]
	require.NoError(t, c.Validate())
	_, err := clickhouse.Migrate(t.Context(), c)
	require.ErrorContains(t, err, "the tables of 127.0.0.1:")
	require.ErrorContains(t, err, "from one replica to two")
	require.True(t, config.IsInvalid(err))
	require.ErrorContains(t, clickhouse.RequireReplicated(t.Context(), clickhouse.Config{URL: shards.Servers[0].URL()}), "has tables of one server (", "as after a restore")
}

// writerOf is the record of one shard.
type writerOf struct {
	name  string
	epoch int64
}

// Writer implements clickhouse.Writers.
func (w *writerOf) Writer(context.Context, uint16) (string, int64, error) {
	return w.name, w.epoch, nil
}

// Replicas implements clickhouse.Writers.
func (*writerOf) Replicas(context.Context, uint16) ([]string, error) {
	return []string{"r0", "r1"}, nil
}

// Jobs read and write the replica that writes, and nothing else. What they read while it is replaced does not count.
func TestJobsUseTheWriter(t *testing.T) {
	t.Parallel()
	c := enginetest.NewCopies(t, 2, 2)
	_, err := clickhouse.Migrate(t.Context(), c.Config)
	require.NoError(t, err)
	conn, err := clickhouse.Open(c.Config, 2)
	require.NoError(t, err)
	require.ErrorContains(t, clickhouse.EachShard(conn, func(driver.Conn) error { return nil }), "Postgres")
	require.NoError(t, conn.Close())

	writer := &writerOf{"r1", 1}
	config := c.Config
	config.Writers = writer
	conn, err = clickhouse.Open(config, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	for _, shard := range c.Servers {
		require.NoError(t, shard[1].Conn().Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at) SETTINGS async_insert = 0 VALUES (7, now64(3)), (8, now64(3))"))
	}
	count := func() (n uint64, err error) {
		err = conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.events WHERE kafka_offset IN (SELECT kafka_offset FROM lodestone.events WHERE kafka_offset = 7)").Scan(&n)
		return n, err
	}
	for range 4 { // whichever server is asked
		n, err := count()
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
	}
	var names []string
	each := func(shard driver.Conn) error {
		names = append(names, texts(t, shard, "SELECT getMacro('replica')")...)
		return nil
	}
	require.NoError(t, clickhouse.EachShard(conn, each))
	require.Equal(t, []string{"r1", "r1"}, names)
	err = clickhouse.EachShard(conn, func(driver.Conn) error { writer.epoch++; return nil })
	require.ErrorIs(t, err, clickhouse.ErrReplaced)

	writer.name = "r0"
	n, err := count()
	require.NoError(t, err)
	require.Zero(t, n, "the writer lacks them")
	rows, err := conn.Query(t.Context(), "SELECT count() FROM lodestone.events")
	require.NoError(t, err)
	writer.epoch++
	for rows.Next() {
	}
	require.ErrorIs(t, errors.Join(rows.Err(), rows.Close()), clickhouse.ErrReplaced)

	config.MaxLag = 30e9
	lags, err := clickhouse.Open(config, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lags.Close()) })
	require.Equal(t, []string{"30 0"}, texts(t, lags,
		"SELECT toString(getSetting('max_replica_delay_for_distributed_queries')) || ' ' || toString(toUInt8(getSetting('fallback_to_stale_replicas_for_distributed_queries')))"))
}

func TestTheSettingOfReplicas(t *testing.T) {
	t.Parallel()
	c := clickhouse.Config{URL: "clickhouse://u:p@b1:9000/lodestone", Shards: "a1:9000, a2:9000; b1:9000,b2:9001"}
	require.NoError(t, c.Validate())
	shards, err := c.Replicas()
	require.NoError(t, err)
	require.Equal(t, [][]clickhouse.Config{
		{{URL: "clickhouse://u:p@a1:9000/lodestone"}, {URL: "clickhouse://u:p@a2:9000/lodestone"}},
		{{URL: "clickhouse://u:p@b1:9000/lodestone"}, {URL: "clickhouse://u:p@b2:9001/lodestone"}},
	}, shards)
	first, err := c.FirstReplicas()
	require.NoError(t, err)
	require.Equal(t, clickhouse.Config{URL: "clickhouse://u:p@a1:9000/lodestone", Shards: "a1:9000;b1:9000"}, first)
	c.Shards = "a1:9000,b1:9000"
	first, err = c.FirstReplicas()
	require.NoError(t, err)
	require.Equal(t, clickhouse.Config{URL: "clickhouse://u:p@a1:9000/lodestone"}, first)
	for setting, wrong := range map[string]string{
		"a1:9000,;b1:9000":        "no address",
		"b1:9000,b1:9000":         "twice",
		"b1:9000,b2:9000;b2:9000": "twice",
		"a1:9000,a2:9000":         "not in --clickhouse-shards",
		"b1:9000,a2":              "no address",
	} {
		c.Shards = setting
		require.ErrorContains(t, c.Validate(), wrong, setting)
	}
}
