package clickhouse_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// A server that has closed an epoch refuses its inserts, also after a restart. Those of one server name no epoch.
func TestTheFenceOfEpochs(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	c := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), c)
	require.NoError(t, err)
	conn, err := clickhouse.Open(c, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	insert := func(epoch string) error {
		return conn.Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at, writer_epoch) SETTINGS async_insert = 0 VALUES (1, now64(3), "+epoch+")")
	}
	for range 2 { // as after a migration
		for _, statement := range clickhouse.Fence() {
			require.NoError(t, conn.Exec(t.Context(), statement))
		}
		require.NoError(t, insert("4"))
	}
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone.closed_epochs (epoch, closed) SETTINGS async_insert = 0 SELECT toInt64(number), 1 FROM numbers(5)"))
	err = insert("4")
	require.ErrorContains(t, err, "the writer of the insert was replaced")
	require.False(t, clickhouse.IsRefusal(err), "another try finds the new writer")
	require.NoError(t, insert("5"))
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone.events (kafka_offset, created_at) SETTINGS async_insert = 0 VALUES (1, now64(3))"))
	err = conn.Exec(t.Context(), "INSERT INTO lodestone.events (created_at, kafka_offset, insert_before, writer_epoch) SETTINGS async_insert = 0 SELECT now64(3), 1, now64(3), 5")
	require.ErrorContains(t, err, "came too late")

	require.NoError(t, server.Stop(t.Context()))
	require.NoError(t, server.Start(t.Context()))
	require.Eventually(t, func() bool { return conn.Ping(t.Context()) == nil }, enginetest.Timeout, 50*time.Millisecond)
	require.ErrorContains(t, insert("4"), "the writer of the insert was replaced", "also after a restart")
	require.NoError(t, insert("5"))
}
