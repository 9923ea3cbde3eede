package postgres_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
)

// Addresses of before are found under the keys of now. Two submissions of one mailbox to one link stay two.
func TestKeysOfAddressesGetASCIIDomains(t *testing.T) {
	t.Parallel()
	pool := open(t)
	account := populate(t, pool)
	set := func(table string, keys ...string) {
		for _, key := range keys {
			if table == "access_links" {
				_, err := pool.Unscoped().Exec(t.Context(), `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
					SELECT $1, account_id, id, $2, $2, gen_random_uuid()::text FROM lead_magnets WHERE account_id = $3 LIMIT 1`, uuid.New(), key, account)
				require.NoError(t, err)
				continue
			}
			_, err := pool.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key)
				SELECT $1, account_id, id, $2, $2 FROM generic_links WHERE account_id = $3 LIMIT 1`, uuid.New(), key, account)
			require.NoError(t, err)
		}
	}
	set("access_links", "jo@bücher.example", "al@xn--bcher-kva.example", "zoë@example.org")
	set("submissions", "jo@bücher.example", "vic@bücher.example", "vic@xn--bcher-kva.example")
	db := stdlib.OpenDBFromPool(pool.Unscoped())
	defer func() { require.NoError(t, db.Close()) }()
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, postgres.WriteASCIIDomains(t.Context(), tx))
	require.NoError(t, tx.Commit())
	for table, want := range map[string]string{
		"access_links": "al@xn--bcher-kva.example jo@xn--bcher-kva.example zoë@example.org",
		"submissions":  "jo@xn--bcher-kva.example vic@bücher.example vic@xn--bcher-kva.example",
	} {
		var got string
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT string_agg(email_key, ' ' ORDER BY email_key COLLATE \"C\") FROM "+table+
			" WHERE email_key LIKE '%cher%' OR email_key LIKE 'zo%'").Scan(&got))
		require.Equal(t, want, got, table)
	}
}

// One person has one key, also whose address was stored before keys were in normal form C. Two submissions to one link stay two, and so do
// two users.
func TestKeysOfAddressesAreComposed(t *testing.T) {
	t.Parallel()
	pool := open(t)
	account := populate(t, pool)
	for sql, keys := range map[string][]string{
		`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
			SELECT $1, account_id, id, $2, lower($2), gen_random_uuid()::text FROM lead_magnets WHERE account_id = $3 LIMIT 1`: {"Zoe\u0308@example.org", "zo\u00eb@example.org", "vie\u0302\u0323t@xn--bcher-kva.example"},
		`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key)
			SELECT $1, account_id, id, $2, lower($2) FROM generic_links WHERE account_id = $3 LIMIT 1`: {"Zoe\u0308@example.org", "re\u0301@example.org", "r\u00e9@example.org", "vie\u0302\u0323t@example.org", "vie\u0323\u0302t@example.org"},
		"INSERT INTO users (id, email, email_key) SELECT $1, $2, lower($2) WHERE $3::uuid IS NOT NULL": {"zoe\u0308@example.org", "re\u0301@example.org", "r\u00e9@example.org"},
		`INSERT INTO invitations (id, account_id, email, email_key, role, secret_hash, expires_at)
			VALUES ($1, $3, $2, lower($2), 'analyst', uuid_send($1), now())`: {"zoe\u0308@example.org"},
	} {
		for _, key := range keys {
			_, err := pool.Unscoped().Exec(t.Context(), sql, uuid.Must(uuid.NewV7()), key, account)
			require.NoError(t, err)
		}
	}
	_, err := pool.Unscoped().Exec(t.Context(), "DELETE FROM entity_changes; DELETE FROM goose_db_version WHERE version_id >= 153")
	require.NoError(t, err)
	require.Contains(t, migrate(t, pool), int64(153))
	for table, want := range map[string][]string{
		"access_links": {"vi\u1ec7t@xn--bcher-kva.example", "zo\u00eb@example.org", "zo\u00eb" + "@example.org"},
		"submissions":  {"re\u0301@example.org", "r\u00e9@example.org", "vie\u0323\u0302t@example.org", "vi\u1ec7t@example.org", "zo\u00eb@example.org"},
		"users":        {"re\u0301@example.org", "r\u00e9@example.org", "zo\u00eb@example.org"},
		"invitations":  {"zo\u00eb@example.org"},
	} {
		var got []string
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT array_agg(email_key ORDER BY email_key COLLATE \"C\") FROM "+table+
			` WHERE email_key ~ '[^\x01-\x7f]'`).Scan(&got))
		require.Equal(t, want, got, table)
	}
	var noted int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM entity_changes WHERE entity = 'access_links'").Scan(&noted))
	require.Equal(t, 2, noted, "they are copied to ClickHouse again")
	var shown string
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT email FROM submissions WHERE email_key LIKE 'zo%'").Scan(&shown))
	require.Equal(t, "Zo\u00eb@example.org", shown)
}
