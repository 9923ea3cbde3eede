package clickhouse_test

import (
	"context"
	"os"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// A migration of a large table ends although ClickHouse rewrites the rows for hours: here it rewrites none until it is allowed to.
func TestMigrateDoesNotWaitForRows(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	config := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), config)
	require.NoError(t, err)
	o, err := config.Options()
	require.NoError(t, err)
	db := native.OpenDB(o)
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, os.DirFS("migrations"))
	require.NoError(t, err)
	_, err = provider.DownTo(t.Context(), 12)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	conn := enginetest.Open(t, config)
	account := uuid.New()
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone.events (account_id, event_type) SETTINGS async_insert = 0 VALUES (?, 'page_viewed')", account))
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone.link_views (account_id, url) SETTINGS async_insert = 0 VALUES (?, 'https://a.example/?utm_term=r%F4le&utm_source=x')", account))
	require.NoError(t, conn.Exec(t.Context(), "SYSTEM STOP MERGES lodestone.events"))
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	defer cancel()
	_, err = clickhouse.Migrate(ctx, config)
	require.NoError(t, err)
	require.NoError(t, clickhouse.CheckSchema(ctx, conn))
	count := func(sql string) (n uint64) {
		require.NoError(t, conn.QueryRow(ctx, sql).Scan(&n))
		return n
	}
	const events = "SELECT count() FROM lodestone.events WHERE account_id = '"
	require.EqualValues(t, 1, count(events+account.String()+"'"), "answers do not wait either")
	require.NoError(t, conn.Exec(ctx, "INSERT INTO lodestone.events (account_id, event_type, kafka_offset) SETTINGS async_insert = 0 VALUES (?, 'page_viewed', 1)", account))
	require.EqualValues(t, 2, count(events+account.String()+"'"))

	require.NoError(t, conn.Exec(ctx, "SYSTEM START MERGES lodestone.events"))
	require.Eventually(t, func() bool {
		return count("SELECT count() FROM system.mutations WHERE database = 'lodestone' AND NOT is_done") == 0
	}, enginetest.Timeout, 50*time.Millisecond)
	require.EqualValues(t, 2, count(events+account.String()+"'"))
	require.Equal(t, []string{"r\ufffd x"}, texts(t, conn, "SELECT utm_term || ' ' || utm_source FROM lodestone.link_views"), "a row of before is UTF-8: the byte began a character of four, so all of them go")
	require.Zero(t, count("SELECT count() FROM system.projection_parts WHERE database = 'lodestone' AND active AND name = 'sessions'"))
	require.NotZero(t, count("SELECT count() FROM system.projection_parts WHERE database = 'lodestone' AND active AND name = 'quarters'"))
}
