package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
)

// hotRows is how many rows of each table the workload has: several pages. hotShare is how many of
// them change at once, as those of one step of the counters, which lie anywhere in a table.
const (
	hotRows  = 300
	hotShare = 10
)

// manyReaders makes an account with rows that counters and activity change. The ids of the rows of
// all tables are the same.
func manyReaders(t *testing.T, pool *postgres.Pool) (ids []uuid.UUID) {
	t.Helper()
	account := uuid.New()
	for range hotRows {
		ids = append(ids, uuid.New())
	}
	for _, sql := range []string{
		"INSERT INTO accounts (id, name, plan) SELECT unnest($2::uuid[]), 'A', 'team' UNION ALL SELECT $1, 'A', 'team'",
		"INSERT INTO lead_magnets (id, account_id, title, file_version) SELECT $1, $1, 'M', 1 WHERE $2::uuid[] IS NOT NULL",
		"INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256) SELECT $1, 1, $1, 'f', 'application/pdf', 100000, 9, '' WHERE $2::uuid[] IS NOT NULL",
		"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) SELECT i, $1, $1, i::text FROM unnest($2::uuid[]) i",
		"INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) SELECT i, $1, i, i || '@example.com', i || '@example.com' FROM unnest($2::uuid[]) i",
		"INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key) SELECT i, $1, $1, i AS link, i AS submission, i || '@example.com', i || '@example.com', sha256(i::text::bytea), '', 0 FROM unnest($2::uuid[]) i",
		"INSERT INTO sessions (id, account_id, access_link_id, magnet_version) SELECT i, $1, i, 1 FROM unnest($2::uuid[]) i",
		"INSERT INTO downloads (id, account_id, session_id, event_id) SELECT i, $1, i, i FROM unnest($2::uuid[]) i",
		"INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) SELECT i, $1, 'k', 'lsk_', sha256(i::text::bytea), '{read}' FROM unnest($2::uuid[]) i",
		"INSERT INTO users (id, email, email_key) SELECT i, i::text, i::text FROM unnest($2::uuid[]) i WHERE $1::uuid IS NOT NULL",
		"INSERT INTO memberships (account_id, user_id, role) SELECT $1, i, 'owner' FROM unnest($2::uuid[]) i",
		"INSERT INTO user_sessions (id, account_id, user_id, method, cookie_hash, key_hash, user_agent, started_at, last_active_at) SELECT i, $1, i, 'mail', sha256(i::text::bytea), sha256(i::text::bytea) AS key, '', now() - interval '1 hour', now() - interval '1 hour' FROM unnest($2::uuid[]) i",
		"INSERT INTO shares (id, account_id, lead_magnet_id, token_hash, key_hash) SELECT i, $1, $1, sha256(i::text::bytea), sha256(i::text::bytea) FROM unnest($2::uuid[]) i",
		"INSERT INTO access_link_counts (id, account_id) SELECT i, $1 FROM unnest($2::uuid[]) i",
		"INSERT INTO generic_link_counts (id, account_id) SELECT i, $1 FROM unnest($2::uuid[]) i",
		"INSERT INTO counted_partitions (topic_id, partition, next_offset) SELECT $1, row_number() OVER (), 0 FROM unnest($2::uuid[])",
		"INSERT INTO event_usage (account_id, month, events, event_limit) SELECT i, date_trunc('month', now()), 0, 100 FROM unnest($2::uuid[]) i WHERE $1::uuid IS NOT NULL",
	} {
		_, err := pool.Unscoped().Exec(t.Context(), sql, account, ids)
		require.NoError(t, err, sql)
	}
	return ids
}

// work does one round of what the processes do all the time, with the statements that they do it
// with.
func work(t *testing.T, pool *postgres.Pool, ids []uuid.UUID, round int) {
	t.Helper()
	q, ctx := store.New(pool.Unscoped()), t.Context()
	var some []uuid.UUID
	var numbers []int64
	var times []time.Time
	var pages []string
	var downloads []int32
	for i := round % hotShare; i < len(ids); i += hotShare {
		some, numbers, times = append(some, ids[i]), append(numbers, int64(round+1)),
			append(times, time.Now().Add(time.Second))
		pages, downloads = append(pages, fmt.Sprintf("{1,%d}", round+2)), append(downloads, 1)
		_, err := q.CountOpening(ctx, store.CountOpeningParams{ID: ids[i]})
		require.NoError(t, err)
		_, err = q.ResumeSession(ctx, store.ResumeSessionParams{ID: ids[i], AccessLinkID: ids[i],
			PauseSeconds: 600, LongestSeconds: 6000})
		require.NoError(t, err)
		_, err = q.ServeDownload(ctx, store.ServeDownloadParams{First: int64(round * 10),
			Last: int64(round*10 + 10), Size: 100000, ID: ids[i]})
		require.NoError(t, err)
		require.NoError(t, q.CountShareView(ctx, ids[i]))
		require.NoError(t, q.SetCounterProgress(ctx, store.SetCounterProgressParams{TopicID: ids[0],
			Partitions: []int32{int32(i)}, NextOffsets: []int64{int64(round)}}))
	}
	months, minutes := make([]int32, len(some)), make([]time.Time, len(some))
	for i := range some {
		months[i], minutes[i] = 202611, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	}
	require.NoError(t, q.AddSessions(ctx, store.AddSessionsParams{Links: some, Sessions: some, Months: months,
		First: times, Last: times}))
	views := store.AddMinutesParams{Links: some, Minutes: minutes, Views: numbers}
	require.NoError(t, q.AddMinutes(ctx, views))
	require.NoError(t, q.SetMinutes(ctx, store.SetMinutesParams(views)))
	require.NoError(t, q.AddSessionActivity(ctx, store.AddSessionActivityParams{IDs: some, Links: some, Last: times,
		Pages: pages, Durations: numbers, Downloads: downloads, Touched: make([]bool, len(some)), Clients: numbers}))
	require.NoError(t, q.NoteKeyUses(ctx, store.NoteKeyUsesParams{IDs: some, Times: times}))
	_, err := pool.Unscoped().Exec(ctx, `WITH s AS (UPDATE user_sessions SET last_active_at = clock_timestamp() WHERE id = ANY ($1) RETURNING user_id)
		UPDATE memberships m SET last_seen_at = clock_timestamp() FROM s WHERE m.user_id = s.user_id`, some) // NoteSessionActivity, which waits a minute
	require.NoError(t, err)
	_, err = pool.Unscoped().Exec(ctx, "UPDATE event_usage SET events = events + 1 WHERE account_id = ANY ($1)", some)
	require.NoError(t, err)
}

var hotTables = []string{
	"access_links", "access_link_counts", "generic_link_counts", "sessions", "downloads", "api_keys", "user_sessions",
	"memberships", "shares", "event_usage",
}

// What is written all the time changes no index and stays on its page: such updates leave no work
// to vacuum and no growth of indexes.
func TestFrequentUpdatesTouchNoIndex(t *testing.T) {
	t.Parallel()
	// A server of its own: rows are removed from their pages late while other databases of a server
	// have long transactions.
	server := enginetest.NewPostgres(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	pool := enginetest.PostgresPool(t, server.URL())
	migrate(t, pool)
	for _, table := range hotTables {
		// Nor is one as long as a worker of autovacuum looks at the table.
		_, err := pool.Unscoped().Exec(t.Context(), "ALTER TABLE "+quote(table)+" SET (autovacuum_enabled = false)")
		require.NoError(t, err)
	}
	ids := manyReaders(t, pool)
	for round := range 40 {
		work(t, pool, ids, round)
	}
	type counts struct{ updates, hot int }
	got := map[string]counts{}
	// Each connection counts by itself, and adds that to the shared numbers now and then.
	require.NoError(t, pool.EachConnection(t.Context(), "SELECT pg_stat_force_next_flush()"))
	rows, err := pool.Unscoped().Query(t.Context(),
		"SELECT relname::text, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = 'public'")
	require.NoError(t, err)
	var name string
	var c counts
	_, err = pgx.ForEachRow(rows, []any{&name, &c.updates, &c.hot}, func() error {
		got[name] = c
		return nil
	})
	require.NoError(t, err)
	for _, table := range hotTables {
		require.GreaterOrEqual(t, got[table].updates, 40*hotRows/hotShare, table)
		require.Greaterf(t, got[table].hot*10, got[table].updates*9,
			"%s: %d of %d updates are HOT: is there an index on a column that changes often, or no space on its pages?",
			table, got[table].hot, got[table].updates)
	}
}
