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
