package clickhouse_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/schema"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) {
	test.Trust()
	enginetest.Main(m)
}

// The tests of this file share one server and its database, and migrate in turn: no t.Parallel.
func open(t *testing.T) driver.Conn {
	t.Helper()
	c := clickhouse.Config{URL: enginetest.ClickHouse(t)}
	_, err := clickhouse.Migrate(context.Background(), c)
	require.NoError(t, err)
	conn, err := clickhouse.Open(c, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func TestMigrateTwice(t *testing.T) {
	open(t)
	applied, err := clickhouse.Migrate(context.Background(), clickhouse.Config{URL: enginetest.ClickHouse(t)})
	require.NoError(t, err)
	require.Empty(t, applied)
}

// A schema of a checkout from before the first release is refused, and stays as it is.
func TestAnOldSchemaIsRefused(t *testing.T) {
	server := enginetest.NewMigratedClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	c := clickhouse.Config{URL: server.URL()}
	conn := enginetest.Open(t, c)
	for _, statement := range []string{"TRUNCATE TABLE lodestone.goose_db_version",
		"INSERT INTO lodestone.goose_db_version (version_id, is_applied) VALUES (153, 1)"} {
		require.NoError(t, conn.Exec(t.Context(), statement))
	}
	_, err := clickhouse.Migrate(t.Context(), c)
	for _, err := range []error{err, clickhouse.CheckSchema(t.Context(), conn)} {
		require.True(t, schema.IsMismatch(err), err)
		require.ErrorContains(t, err, "schema 153, of a checkout from before the first release")
	}
	require.Equal(t, []string{"153"}, texts(t, conn, "SELECT toString(version_id) FROM lodestone.goose_db_version"))
}

// texts returns a result of one column of text.
func texts(t *testing.T, conn driver.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(context.Background(), sql)
	require.NoError(t, err)
	var list []string
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		list = append(list, s)
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	return list
}

// Names and types that readers of the view rely on: they stay.
func TestViewIsTheContract(t *testing.T) {
	conn := open(t)
	require.Equal(t, []string{
		"account_id UUID", "lead_magnet_id UUID", "generic_link_id Nullable(UUID)", "access_link_id UUID",
		"session_id Nullable(UUID)", "event_id UUID",
		"event_type Enum8(" + event.TypeEnum() + ")",
		"event_data String", "magnet_version UInt32", "page UInt32", "duration_ms UInt32", "ip_hash Nullable(String)",
		"user_agent LowCardinality(String)", "bot LowCardinality(String)",
		"created_at DateTime64(3, 'UTC')", "received_at DateTime64(3, 'UTC')",
		"kafka_topic_id UUID", "kafka_partition Int32", "kafka_offset Int64",
		"browser LowCardinality(String)", "os LowCardinality(String)", "country LowCardinality(String)",
		"language LowCardinality(String)",
		"device LowCardinality(String)",
	}, texts(t, conn,
		"SELECT concat(name, ' ', type) FROM system.columns WHERE database = 'analytics' AND table = 'events' ORDER BY position"))
}

func TestViewShowsNothingAsNull(t *testing.T) {
	conn := open(t)
	ctx := context.Background()
	account, session, link := uuid.New(), uuid.New(), uuid.New()
	require.NoError(t, conn.Exec(ctx, fmt.Sprintf(`INSERT INTO lodestone.events (account_id, kafka_offset, event_type, session_id, generic_link_id, ip_hash) VALUES
		('%[1]s', 1, 'page_viewed', '%[2]s', '%[3]s', unhex('0a0000000000000000000000000000ff')),
		('%[1]s', 2, 'page_viewed', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', unhex('00000000000000000000000000000000'))`,
		account, session, link)))
	require.Equal(t, []string{
		strings.Join([]string{session.String(), link.String(), "0a0000000000000000000000000000ff"}, "/"),
		"no/no/no",
	}, texts(t, conn, fmt.Sprintf(`SELECT concat(ifNull(toString(session_id), 'no'), '/', ifNull(toString(generic_link_id), 'no'), '/', ifNull(ip_hash, 'no'))
		FROM analytics.events WHERE account_id = '%s' ORDER BY kafka_offset`, account)))
}

// No insert sets when a row was stored.
func TestStoredAtIsTheServersTime(t *testing.T) {
	conn := open(t)
	account := uuid.New()
	require.NoError(t, conn.Exec(t.Context(),
		fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type, received_at) VALUES ('%s', 'page_viewed', '2026-03-01 00:00:00.123')", account)))
	require.Equal(t, []string{"1"},
		texts(t, conn, fmt.Sprintf(
			"SELECT toString(abs(stored_at - now64(3)) < 600) FROM lodestone.events WHERE account_id = '%s'", account)))
	require.ErrorContains(t,
		conn.Exec(t.Context(),
			"INSERT INTO lodestone.events (account_id, event_type, stored_at) VALUES (generateUUIDv4(), 'page_viewed', now64(3))"), "stored_at")
}

// Which offsets of a partition are stored is found by projection, whatever the table holds.
func TestOffsetsAreFoundByProjection(t *testing.T) {
	conn := open(t)
	topic := uuid.New()
	for _, table := range []string{"events", "link_views"} {
		more := ""
		if table == "events" {
			more = ", event_type"
		}
		values := strings.ReplaceAll(more, "event_type", "'page_viewed'")
		insert := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}))
		require.NoError(t, conn.Exec(insert, fmt.Sprintf(`INSERT INTO lodestone.%s (account_id, event_id, created_at, kafka_topic_id, kafka_partition, kafka_offset%s)
			SELECT generateUUIDv4(1), generateUUIDv4(2), toDateTime64(1772323200 + number, 3, 'UTC'), toUUID('%s'), number %% 4, intDiv(number, 4)%s
			FROM numbers(100000)`, table, more, topic, values)))
		for _, sql := range []string{
			"SELECT count(), uniqExact(kafka_offset) FROM lodestone.%s WHERE kafka_topic_id = '%s' AND kafka_partition = 2 AND kafka_offset >= 24000",
			"SELECT kafka_offset FROM lodestone.%s WHERE kafka_topic_id = '%s' AND kafka_partition = 2 AND kafka_offset >= 24000 AND kafka_offset <= 24100",
			"SELECT max(kafka_offset) FROM lodestone.%s WHERE kafka_topic_id = '%s' AND kafka_partition = 2 AND kafka_offset >= 24000 HAVING count() > 0",
		} {
			sql = fmt.Sprintf(sql, table, topic)
			plan := strings.Join(texts(t, conn, "EXPLAIN indexes = 1, projections = 1 "+sql), "\n")
			require.Contains(t, plan, "ReadFromMergeTree (by_offset)", sql)
			require.Regexp(t, `Parts: \d \| Granules: \d\n`, plan, "single granules of about a hundred: %s", sql)
		}
	}
}
