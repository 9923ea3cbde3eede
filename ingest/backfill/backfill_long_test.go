//go:build long

package backfill_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/backfill"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const (
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)

// old stores a row for each user agent in each of two months, as a release without the columns did.
func old(t *testing.T, conn driver.Conn, account uuid.UUID, agents ...string) {
	t.Helper()
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}))
	for _, a := range agents {
		for _, at := range []string{"2026-01-31 23:59:59.999", "2026-02-01 00:00:00.000"} {
			require.NoError(t, conn.Exec(ctx, `INSERT INTO lodestone.events (account_id, event_id, event_type, user_agent, ip_hash, created_at, kafka_topic_id, kafka_offset)
				VALUES (?, generateUUIDv4(), 'page_viewed', ?, '0123456789abcdef', ?, ?, 7)`, account, a, at, account))
			require.NoError(t, conn.Exec(ctx, `INSERT INTO lodestone.link_views (account_id, event_id, user_agent, created_at)
				VALUES (?, generateUUIDv4(), ?, ?)`, account, a, at))
		}
	}
}

// named returns the names of the rows of each user agent.
func named(t *testing.T, conn driver.Conn, table string, account uuid.UUID) map[string][]string {
	t.Helper()
	rows, err := conn.Query(context.Background(), "SELECT user_agent, groupArray(browser || ' on ' || os || country || language) FROM lodestone."+table+
		" WHERE account_id = ? GROUP BY user_agent", account)
	require.NoError(t, err)
	found := map[string][]string{}
	for rows.Next() {
		var a string
		var names []string
		require.NoError(t, rows.Scan(&a, &names))
		found[a] = names
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	return found
}

// Rows of an earlier release get the names that a consumer would have stored, and nothing else about them changes. That finds them
// wherever they are, also such as were stored after the first time.
func TestOldRowsGetNames(t *testing.T) {
	t.Parallel()
	config := enginetest.MigratedClickHouse(t)
	conn, err := clickhouse.Open(config, 2)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	account := uuid.New()
	job := backfill.New(backfill.Deps{ClickHouse: config, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	old(t, conn, account, chrome, safari, "", `it's a \ "bot" {x:String} ü`)
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO lodestone.events (account_id, event_id, event_type, user_agent, agent_names, origin, created_at)
		SETTINGS async_insert = 0 VALUES (?, generateUUIDv4(), 'page_viewed', 'new', 'Kept/As is', ' CH/ gsw', '2026-02-02 00:00:00')`, account))
	const others = `SELECT toString(groupBitXor(sipHash64(event_id, event_type, ip_hash, user_agent, created_at, stored_at, kafka_topic_id, kafka_offset)))
		FROM lodestone.events WHERE account_id = ?`
	var before, after string
	require.NoError(t, conn.QueryRow(t.Context(), others, account).Scan(&before))

	require.NoError(t, job.Fill(t.Context()))
	want := map[string][]string{
		chrome: {"Chrome on Windows", "Chrome on Windows"}, safari: {"Safari on iOS", "Safari on iOS"}, "": {" on ", " on "},
		`it's a \ "bot" {x:String} ü`: {"Other on Other", "Other on Other"},
	}
	require.Equal(t, want, named(t, conn, "link_views", account))
	want["new"] = []string{"Kept on As is CH gsw"}
	require.Equal(t, want, named(t, conn, "events", account))
	require.NoError(t, conn.QueryRow(t.Context(), others, account).Scan(&after))
	require.Equal(t, before, after)
	var offsets uint64 // by the projection, which the change leaves alone
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.events WHERE kafka_topic_id = ? AND kafka_partition = 0 AND kafka_offset >= 7", account).Scan(&offsets))
	require.Equal(t, uint64(8), offsets)

	old(t, conn, account, "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0")
	enginetest.Run(t, job)
	require.Eventually(t, func() bool {
		names := named(t, conn, "link_views", account)["Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"]
		return len(names) == 2 && names[0] == "Firefox on Linux" && names[1] == "Firefox on Linux"
	}, enginetest.Timeout, 20*time.Millisecond)
}

// A mutation that someone else asked for, and that fails, holds up nothing but the table that it is of. There the error says why.
func TestMutationsOfOthers(t *testing.T) {
	t.Parallel()
	server := enginetest.NewMigratedClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	config := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), config)
	require.NoError(t, err)
	conn := enginetest.Open(t, config)
	account := uuid.New()
	store := func(table, columns, agent, names string) {
		require.NoError(t, conn.Exec(t.Context(), "INSERT INTO lodestone."+table+" ("+columns+`account_id, event_id, user_agent, agent_names, created_at)
			SETTINGS async_insert = 0 VALUES (1, ?, generateUUIDv4(), ?, ?, '2026-02-15 00:00:00')`, account, agent, names))
	}
	store("events", "event_type, ", safari, "")
	store("link_views", "kafka_partition, ", chrome, "Kept/As is")
	require.NoError(t, conn.Exec(t.Context(), `ALTER TABLE lodestone.link_views UPDATE agent_names = toString(throwIf(user_agent != '', 'not today'))
		WHERE 1 SETTINGS mutations_sync = 0`))
	require.Eventually(t, func() bool {
		var failed uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM system.mutations WHERE NOT is_done AND latest_fail_reason != ''").Scan(&failed))
		return failed > 0
	}, enginetest.Timeout, 20*time.Millisecond)

	job := backfill.New(backfill.Deps{ClickHouse: config, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	require.NoError(t, job.Fill(t.Context()), "nothing of that table lacks names")
	require.Equal(t, map[string][]string{safari: {"Safari on iOS"}}, named(t, conn, "events", account))

	store("link_views", "kafka_partition, ", safari, "")
	require.ErrorContains(t, job.Fill(t.Context()), "not today")
}
