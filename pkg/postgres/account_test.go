package postgres_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T) *postgres.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: enginetest.Postgres(t), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrate(t, pool)
	return pool
}

func migrate(t *testing.T, pool *postgres.Pool) (applied []int64) {
	t.Helper()
	require.NoError(t, pool.WithMigrationLock(t.Context(), func(ctx context.Context) (err error) {
		applied, err = pool.Migrate(ctx)
		return err
	}))
	return applied
}

// populate makes an account with one row in every table of accounts.
func populate(t *testing.T, pool *postgres.Pool) uuid.UUID {
	t.Helper()
	account, magnet, link, submission := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{"INSERT INTO accounts (id, name, plan) VALUES ($1, 'A', 'team')", []any{account}},
			{"INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES (gen_random_uuid(), $1, 'k', 'lsk_', $2, '{read}')", []any{account, account[:]}},
			{"INSERT INTO lead_magnets (id, account_id, title, file_version) VALUES ($2, $1, 'M', 1)", []any{account, magnet}},
			{"INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256) VALUES ($2, 1, $1, 'f', 'application/pdf', 1, 1, '')", []any{account, magnet}},
			{"INSERT INTO lead_magnet_file_chunks (lead_magnet_id, version, number, account_id, bytes) VALUES ($2, 1, 0, $1, 'x')", []any{account, magnet}},
			{"INSERT INTO report_keys (id, account_id, key_hash, expires_at) VALUES (gen_random_uuid(), $1, $2, now())",
				[]any{account, account[:]}},
			{"INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $1, $1, now(), '{}')",
				[]any{account}},
			{"INSERT INTO erased_links (id, account_id, erasure_id) VALUES (gen_random_uuid(), $1, $1)", []any{account}},
			{"INSERT INTO deleted_links (id, account_id, person_id, submission) VALUES (gen_random_uuid(), $1, $1, false)",
				[]any{account}},
			{"INSERT INTO file_objects (id, account_id) VALUES (gen_random_uuid(), $1)", []any{account}},
			{"INSERT INTO page_pictures (account_id, lead_magnet_id, version, page, content_type) VALUES ($1, $2, 1, 1, 'image/jpeg')", []any{account, magnet}},
			{"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($3, $1, $2, $4)",
				[]any{account, magnet, link, link.String()}},
			{"INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) VALUES ($3, $1, $2, 'e', 'e')",
				[]any{account, link, submission}},
			{"INSERT INTO verifications (id, account_id, submission_id, email, page_hash, link_hash, code_hash, sent_at, expires_at) VALUES (gen_random_uuid(), $1, $2, 'e', $3, $3, '', now(), now())", []any{account, submission, account[:]}},
			{"INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key) VALUES (gen_random_uuid(), $1, $2, $3, $4, 'e', 'e', sha256($5::text::bytea), '', 0)", []any{account, magnet, link, submission, account.String()}},
			{"INSERT INTO access_link_counts (id, account_id) SELECT id, account_id FROM access_links WHERE account_id = $1",
				[]any{account}},
			{"INSERT INTO generic_link_counts (id, account_id) VALUES ($2, $1)", []any{account, link}},
			{"INSERT INTO sessions (id, account_id, access_link_id, magnet_version) SELECT $2, $1, id, 1 FROM access_links WHERE account_id = $1", []any{account, link}},
			{"INSERT INTO reading_notices (session_id, account_id, access_link_id, news, send) SELECT $2, $1, id, '{opened}', 'each' FROM access_links WHERE account_id = $1", []any{account, link}},
			{"INSERT INTO event_usage (account_id, month, events) VALUES ($1, '2026-03-01', 1)", []any{account}},
			{"INSERT INTO downloads (id, account_id, session_id, event_id) VALUES (gen_random_uuid(), $1, $2, gen_random_uuid())", []any{account, link}},
			{"INSERT INTO pictures (id, account_id, kind, content_type, width, height, bytes) VALUES (md5($1::text), $1::uuid, 'logo', 'image/png', 1, 1, 'x')", []any{account}},
			{"INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, kinds) VALUES ($2, $1, 'json', 'u', '', '{k}')", []any{account, link}},
			{"INSERT INTO webhook_secrets (id, account_id, endpoint_id, sealed) VALUES (gen_random_uuid(), $1, $2, decode(repeat('00', 60), 'hex'))", []any{account, link}},
			{"INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body_sealed) VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), 'k', '{}')", []any{account, link}},
			{"INSERT INTO idempotency_keys (account_id, operation, key, request, claim, claimed_at, given_up_at) VALUES ($1, 'o', 'k', '', gen_random_uuid(), now(), now())", []any{account}},
			{"INSERT INTO users (id, email, email_key) VALUES ($1, $2, $2)", []any{link, link.String()}},
			{"INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, 'owner')", []any{account, link}},
			{"INSERT INTO invitations (id, account_id, email, email_key, role, secret_hash, expires_at) VALUES (gen_random_uuid(), $1, 'e', 'e', 'analyst', $2, now())", []any{account, account[:]}},
			{"INSERT INTO alert_rules (id, account_id, kind, metric) VALUES ($1, $1, 'range', 'visitors')", []any{account}},
			{"INSERT INTO alerts (id, account_id, rule_id, direction, value, since) VALUES (gen_random_uuid(), $1, $1, 'above', 1, now())", []any{account}},
			{"INSERT INTO views (id, account_id, screen, name, parameters) VALUES (gen_random_uuid(), $1, 's', 'n', '{}')",
				[]any{account}},
			{"INSERT INTO utm_templates (id, account_id, name, source) VALUES (gen_random_uuid(), $1, 'n', 's')",
				[]any{account}},
			{"INSERT INTO recipients (id, account_id, generic_link_id, person_id) SELECT id, account_id, generic_link_id, $1 FROM access_links WHERE account_id = $1", []any{account}},
			{"INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES (gen_random_uuid(), $1, $1, 'network', now())", []any{account}},
			{"INSERT INTO unsubscribes (account_id, person_id) VALUES ($1, $1)", []any{account}},
			{"INSERT INTO reminder_rules (generic_link_id, account_id, after_days, subject, body) VALUES ($2, $1, 3, 's', 'b')",
				[]any{account, link}},
			{"INSERT INTO agreements (id, account_id, generic_link_id, digest, text) VALUES ($2, $1, $2, '', 't')",
				[]any{account, link}},
			{"INSERT INTO acceptances (submission_id, agreement_id, account_id, accepted_at) VALUES ($3, $2, $1, now())",
				[]any{account, link, submission}},
			{"INSERT INTO profiles (account_id, email_key) VALUES ($1, 'e')", []any{account}},
			{"INSERT INTO shares (id, account_id, lead_magnet_id, token_hash, key_hash) VALUES (gen_random_uuid(), $1, $2, $3, $3)", []any{account, magnet, account[:]}},
			{"INSERT INTO embeds (generic_link_id, account_id) VALUES ($2, $1)", []any{account, link}},
			{"INSERT INTO user_sessions (id, account_id, user_id, method, cookie_hash, key_hash, user_agent) VALUES (gen_random_uuid(), $1, $2, 'mail', $3, $3, '')", []any{account, link, account[:]}},
			{"INSERT INTO audit_log (id, account_id, action, actor, request_id) VALUES (gen_random_uuid(), $1, 'a', '', '')",
				[]any{account}},
		} {
			if _, err := tx.Exec(t.Context(), s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	}))
	return account
}

func quote(table string) string { return `"` + table + `"` }

// accountTables returns every table that holds rows of accounts, with the column that says whose.
func accountTables(t *testing.T, pool *postgres.Pool) map[string]string {
	t.Helper()
	rows, err := pool.Unscoped().Query(t.Context(), `
		SELECT table_name, 'account_id' FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'account_id'
		UNION ALL SELECT 'accounts', 'id'`)
	require.NoError(t, err)
	tables := map[string]string{}
	var name, column string
	_, err = pgx.ForEachRow(rows, []any{&name, &column}, func() error {
		tables[name] = column
		return nil
	})
	require.NoError(t, err)
	return tables
}

// A query that forgets to name its account sees and changes the rows of its account only, in every
// table that has an account, also in those that later migrations add.
func TestAccountScope(t *testing.T) {
	t.Parallel()
	pool := open(t)
	mine, other := populate(t, pool), populate(t, pool)
	tables := accountTables(t, pool)
	require.GreaterOrEqual(t, len(tables), 8)
	for table, column := range tables {
		require.NoError(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
			rows, err := tx.Query(t.Context(), "SELECT DISTINCT "+column+" FROM "+quote(table))
			require.NoError(t, err, table)
			seen, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			require.NoError(t, err, table)
			require.Equal(t, []uuid.UUID{mine}, seen, "%s: give it a row in populate, and in its migration a policy", table)
			return nil
		}))
		require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "UPDATE "+quote(table)+" SET "+column+" = $1", other)
			return err
		}), table)
	}
	require.NoError(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "DELETE FROM access_links")
		return err
	}))
	var left int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM access_links").Scan(&left))
	require.Equal(t, 1, left)
}

// Every table that has an account has row-level security with a policy, and the role has no way
// around it.
func TestEveryAccountTableHasPolicy(t *testing.T) {
	t.Parallel()
	pool := open(t)
	unprotected := func() (names []string) {
		rows, err := pool.Unscoped().Query(t.Context(), `
			SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
			WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
			AND NOT (c.relrowsecurity AND EXISTS (
				SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
				AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL
				AND p.polroles = ARRAY['lodestone_account'::regrole::oid]))`)
		require.NoError(t, err)
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return names
	}
	require.Empty(t, unprotected(), "a table with account_id needs row-level security and a policy for lodestone_account")
	_, err := pool.Unscoped().Exec(t.Context(), "CREATE TABLE forgotten (account_id uuid)")
	require.NoError(t, err)
	require.Equal(t, []string{"forgotten"}, unprotected())

	var super, bypass bool
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
		"SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'lodestone_account'").Scan(&super, &bypass))
	require.False(t, super || bypass)
}

func TestAccountCannotReachFurther(t *testing.T) {
	t.Parallel()
	pool := open(t)
	mine, other := populate(t, pool), populate(t, pool)
	var magnet uuid.UUID
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT id FROM lead_magnets WHERE account_id = $1",
		other).Scan(&magnet))
	for _, sql := range []string{
		"SELECT hash FROM api_keys",
		"UPDATE accounts SET plan = 'team'",
		"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES (gen_random_uuid(), '" + mine.String() +
			"', '" + magnet.String() + "', 'stolen')",
		"INSERT INTO lead_magnets (id, account_id, title) VALUES (gen_random_uuid(), '" + other.String() + "', 'planted')",
		"SELECT * FROM ip_salts",
		"UPDATE audit_log SET actor = 'x'",
		"DELETE FROM audit_log",
		"TRUNCATE audit_log",
	} {
		require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), sql)
			return err
		}), sql)
	}
	require.Error(t, pool.AccountSnapshot(t.Context(), mine, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE lead_magnets SET title = 'x'")
		return err
	}))
	// The scope ends with its transaction: the connection goes back to the pool without it.
	for range 8 {
		var role string
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT current_user").Scan(&role))
		require.NotEqual(t, "lodestone_account", role)
	}
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	pool := open(t)
	require.Empty(t, migrate(t, pool))
}

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	away, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://u:p@127.0.0.1:1/d", MaxConns: 1})
	require.NoError(t, err)
	require.True(t, postgres.IsUnavailable(away.Ping(t.Context())))
	away.Close()
	require.True(t, postgres.IsUnavailable(away.Ping(t.Context())))

	pool := open(t)
	killed := pool.Transaction(t.Context(), func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT pg_terminate_backend(pg_backend_pid())")
		return err
	})
	require.True(t, postgres.IsUnavailable(killed), "%v", killed)
	_, err = pool.Unscoped().Exec(t.Context(), "SELECT 1/0")
	require.Error(t, err)
	require.False(t, postgres.IsUnavailable(err))
}
