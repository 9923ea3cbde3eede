package postgres_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/postgres"
	"lodestone/pkg/schema"
	"lodestone/pkg/test/enginetest"
)

// cluster starts a PostgreSQL of its own: roles belong to a cluster, so the shared one always has
// them.
func cluster(t *testing.T, name string) *engine.Postgres {
	t.Helper()
	server := enginetest.NewPostgres(t, filepath.Join(enginetest.Dir(t), name))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // the first time downloads
	defer cancel()
	require.NoError(t, server.Start(ctx))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	})
	return server
}

func connect(t *testing.T, url string) *postgres.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// access lists everything that decides what the role of accounts may do, one line each.
func access(t *testing.T, pool *postgres.Pool) []string {
	t.Helper()
	rows, err := pool.Unscoped().Query(t.Context(), `
		SELECT 'security ' || relname || ' ' || relrowsecurity FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
		UNION ALL SELECT concat_ws(' ', 'policy', c.relname, p.polname, p.polcmd, p.polpermissive, p.polroles::regrole[],
			pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
			FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
		UNION ALL SELECT concat_ws(' ', 'relation', c.relname, a.grantee::regrole, a.privilege_type)
			FROM pg_class c, aclexplode(c.relacl) a WHERE a.grantee = 'lodestone_account'::regrole
		UNION ALL SELECT concat_ws(' ', 'column', c.relname, n.attname, a.grantee::regrole, a.privilege_type)
			FROM pg_class c JOIN pg_attribute n ON n.attrelid = c.oid, aclexplode(n.attacl) a WHERE a.grantee = 'lodestone_account'::regrole
		ORDER BY 1`)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return lines
}

// requireAccess asserts that the role may do what want says, and nothing else. What differs belongs
// into access.sql.
func requireAccess(t *testing.T, want []string, pool *postgres.Pool) {
	t.Helper()
	got := access(t, pool)
	lacks := func(all, some []string) (missing []string) {
		for _, line := range all {
			if !slices.Contains(some, line) {
				missing = append(missing, line)
			}
		}
		return missing
	}
	require.Empty(t, lacks(want, got), "access.sql does not give this back")
	require.Empty(t, lacks(got, want), "access.sql gives more than the migrations")
}

func repair(t *testing.T, pool *postgres.Pool) (repaired []string) {
	t.Helper()
	require.NoError(t, pool.WithMigrationLock(t.Context(), func(ctx context.Context) (err error) {
		repaired, err = pool.RepairAccess(ctx)
		return err
	}))
	return repaired
}

func run(t *testing.T, name string, args ...string) error {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "%s is missing: install PostgreSQL's programs (Debian's package postgresql)", name)
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	t.Logf("%s: %s", name, out)
	return err
}

// A dump restored into a fresh cluster works: at once if the role of accounts was created first, as
// deploy/postgres/lodestone.sh does, and after `lodestone migrate` if it was not.
func TestADumpIsRestoredIntoAFreshCluster(t *testing.T) {
	t.Parallel()
	source := cluster(t, "source")
	pool := connect(t, source.URL())
	migrate(t, pool)
	account, other := populate(t, pool), populate(t, pool)
	require.Empty(t, repair(t, pool), "nothing is missing in a database that was migrated")
	want := access(t, pool)
	dump := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, run(t, "pg_dump", "--format=custom", "--file="+dump, source.URL()))

	t.Run("with the role", func(t *testing.T) {
		t.Parallel()
		target := cluster(t, "prepared")
		restored := connect(t, target.URL())
		_, err := restored.Unscoped().Exec(t.Context(), "CREATE ROLE lodestone_account NOLOGIN")
		require.NoError(t, err)
		require.NoError(t, run(t, "pg_restore", "--dbname="+target.URL(), dump))
		requireAccess(t, want, restored)
		migrate(t, restored)
		require.Empty(t, repair(t, restored))
		requireApart(t, restored, account, other)
	})
	t.Run("without the role", func(t *testing.T) {
		t.Parallel()
		target := cluster(t, "bare")
		require.Error(t, run(t, "pg_restore", "--dbname="+target.URL(), dump), "PostgreSQL says that the role is missing")
		restored := connect(t, target.URL())
		require.True(t, schema.IsMismatch(restored.CheckSchema(t.Context())), "a process on it must not be ready")
		require.Empty(t, migrate(t, restored))
		require.NotEmpty(t, repair(t, restored))
		requireAccess(t, want, restored)
		requireApart(t, restored, account, other)
	})
}

// requireApart asserts that an account sees its own rows and none of another's.
func requireApart(t *testing.T, pool *postgres.Pool, account, other uuid.UUID) {
	t.Helper()
	require.NoError(t, pool.CheckSchema(t.Context()))
	for _, id := range []uuid.UUID{account, other} {
		require.NoError(t, pool.Account(t.Context(), id, func(tx pgx.Tx) error {
			var links, foreign int
			require.NoError(t, tx.QueryRow(t.Context(),
				"SELECT count(*), count(*) FILTER (WHERE account_id <> $1) FROM access_links", id).Scan(&links, &foreign))
			require.Equal(t, 1, links)
			require.Zero(t, foreign)
			return nil
		}))
	}
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	empty, err := postgres.Open(t.Context(), postgres.Config{URL: enginetest.Postgres(t), MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(empty.Close)
	err = empty.CheckSchema(t.Context())
	require.True(t, schema.IsMismatch(err))
	require.ErrorContains(t, err, "lodestone migrate")

	pool := open(t)
	require.NoError(t, pool.CheckSchema(t.Context()))
	for name, c := range map[string]struct{ change, undo, says string }{
		"too old": {
			"UPDATE goose_db_version SET is_applied = false WHERE version_id = (SELECT max(version_id) FROM goose_db_version)",
			"UPDATE goose_db_version SET is_applied = true", "lodestone migrate",
		},
		"of a checkout before releases": {
			"UPDATE goose_db_version SET version_id = version_id - 50 WHERE version_id >= 205",
			"UPDATE goose_db_version SET version_id = version_id + 50 WHERE version_id BETWEEN 155 AND 204",
			"of a checkout from before the first release",
		},
		"incomplete": {
			"ALTER TABLE access_links DISABLE ROW LEVEL SECURITY", "ALTER TABLE access_links ENABLE ROW LEVEL SECURITY",
			"access_links",
		},
	} {
		_, err := pool.Unscoped().Exec(t.Context(), c.change)
		require.NoError(t, err)
		err = pool.CheckSchema(t.Context())
		require.True(t, schema.IsMismatch(err), name)
		require.ErrorContains(t, err, c.says, name)
		_, err = pool.Unscoped().Exec(t.Context(), c.undo)
		require.NoError(t, err)
		require.NoError(t, pool.CheckSchema(t.Context()), name)
	}
	_, err = pool.Unscoped().Exec(t.Context(),
		"UPDATE goose_db_version SET version_id = version_id - 50 WHERE version_id >= 205")
	require.NoError(t, err)
	_, err = pool.Migrate(t.Context())
	require.True(t, schema.IsMismatch(err), "nothing is changed")
	_, err = pool.Unscoped().Exec(t.Context(),
		"UPDATE goose_db_version SET version_id = version_id + 50 WHERE version_id BETWEEN 155 AND 204")
	require.NoError(t, err)
	// The release before this one keeps working on a schema that has more migrations.
	_, err = pool.Unscoped().Exec(t.Context(),
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	require.NoError(t, err)
	require.NoError(t, pool.CheckSchema(t.Context()))
}
