package stream_test

import (
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// requireWrongCopy fails unless the error is one of the setting of the copy.
func requireWrongCopy(t *testing.T, err error) {
	t.Helper()
	require.True(t, config.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "--clickhouse-copy")
}

// A server belongs to the copy with whose number it was migrated first.
func TestAServerIsOfOneCopy(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	pool := enginetest.MigratedPostgres(t)
	second := clickhouse.Config{URL: server.URL(), Copy: 2}
	requireWrongCopy(t, stream.CheckPlacements(t.Context(), pool, second))
	for range 2 {
		_, err := clickhouse.Migrate(t.Context(), second)
		require.NoError(t, err)
	}
	require.Equal(t, []uint16{1001}, shards(t, second))
	for want := range 2 {
		added, err := stream.AddCopy(t.Context(), pool, second)
		require.NoError(t, err)
		require.Equal(t, want == 0, added)
		require.NoError(t, stream.CheckPlacements(t.Context(), pool, second))
	}

	first := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), first)
	requireWrongCopy(t, err)
	topology, err := clickhouse.NewTopology(first)
	require.NoError(t, err)
	requireWrongCopy(t, topology.Each(t.Context(), func(uint16, *ch.Client) error { return nil }))
}

// shards returns the ids of the servers of the settings.
func shards(t *testing.T, c clickhouse.Config) (ids []uint16) {
	t.Helper()
	topology, err := clickhouse.NewTopology(c)
	require.NoError(t, err)
	require.NoError(t, topology.Each(t.Context(), func(id uint16, _ *ch.Client) error {
		ids = append(ids, id)
		return nil
	}))
	return ids
}

func TestALostCopyLeavesNothing(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	account, done, pending := uuid.New(), uuid.New(), uuid.New()
	erase := func(id uuid.UUID) {
		t.Helper()
		exec("INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $2, $1, now(), '{}')", id,
			account)
	}
	blanked := func(id uuid.UUID) (is bool) {
		t.Helper()
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT blanked_at IS NOT NULL FROM erasures WHERE id = $1",
			id).Scan(&is))
		return is
	}
	erase(done)
	exec("INSERT INTO erasure_copies (erasure_id, copy) VALUES ($1, 1)", done)
	exec("SELECT complete_erasures()")
	require.True(t, blanked(done))
	added, err := stream.AddCopy(t.Context(), pool, clickhouse.Config{Copy: 2})
	require.NoError(t, err)
	require.True(t, added)
	require.False(t, blanked(done), "the new copy may have events of the person")
	erase(pending)
	exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'a', 'team')", account)
	exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'm')", uuid.New(), account)
	exec("INSERT INTO erasure_copies (erasure_id, copy) VALUES ($1, 2)", pending)
	topic := uuid.New()
	for _, shard := range []int{1, 1001} {
		exec("INSERT INTO partition_placements (topic_id, partition, topic, shard) VALUES ($1, 0, 't', $2)", topic, shard)
		exec("INSERT INTO topic_groups (topic_id, copy, topic, consumer_group) VALUES ($1, $2 / 1000 + 1, 't', 'g' || $2)",
			topic, shard)
		exec("INSERT INTO lost_ranges (topic_id, copy, topic, partition, offsets) VALUES ($1, $2 / 1000 + 1, 't', 0, '{[0,1)}')", topic, shard)
	}
	tables := tablesOfCopies(t, pool)
	require.Subset(t, tables, []string{"copies", "entity_changes", "erasure_copies", "erasure_looks", "lost_ranges",
		"partition_placements", "store_pulse", "topic_groups"})
	rows := func(table string, number int) (n int) {
		t.Helper()
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM "+table+
			" WHERE copy = $1", number).Scan(&n))
		return n
	}
	for _, table := range tables {
		require.Equal(t, 1, rows(table, 1), table)
		require.Equal(t, 1, rows(table, 2), table)
	}
	exec("SELECT remove_copy(2)")
	for _, table := range tables {
		require.Equal(t, 1, rows(table, 1), table)
		require.Zero(t, rows(table, 2), table)
	}
	require.True(t, blanked(done))
	require.False(t, blanked(pending), "copy 1 has not")
	_, err = stream.AddCopy(t.Context(), pool, clickhouse.Config{Copy: 2})
	require.ErrorContains(t, err, "copy 2 of the events was removed", "its group has committed what another store lacks")
	_, err = stream.AddCopy(t.Context(), pool, clickhouse.Config{Copy: 3})
	require.NoError(t, err)
}

// tablesOfCopies returns the tables that have rows of each copy: counting_copy has one of them all.
func tablesOfCopies(t *testing.T, pool *postgres.Pool) (names []string) {
	t.Helper()
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `SELECT array_agg(table_name::text) FROM information_schema.columns
		WHERE column_name = 'copy' AND table_schema = current_schema() AND table_name <> 'counting_copy'`).Scan(&names))
	return names
}
