package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// requireEmptyPostgres fails unless a database has no tables, or the schema of the backup and no
// account.
func requireEmptyPostgres(ctx context.Context, pool *postgres.Pool, m Manifest) error {
	var tables, accounts int
	var schema int64
	db := pool.Unscoped()
	err := db.QueryRow(ctx, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables)
	if err == nil && tables > 0 {
		err = db.QueryRow(ctx,
			"SELECT (SELECT count(*) FROM accounts), (SELECT max(version_id) FROM goose_db_version WHERE is_applied)").Scan(
			&accounts, &schema)
	}
	switch {
	case err != nil && tables > 0:
		return fmt.Errorf("%w: Postgres has %d tables that do not belong to Lodestone: create a new database", ErrNotEmpty,
			tables)
	case err != nil:
		return fmt.Errorf("look whether Postgres is empty: %w", err)
	case accounts > 0:
		return fmt.Errorf("%w: Postgres has %d accounts: create a new database, and give its address", ErrNotEmpty, accounts)
	case tables > 0 && schema != m.Postgres.Schema:
		return fmt.Errorf("%w: Postgres was migrated to schema %d, and the backup has %d: create a new database, and do not run `lodestone migrate` before the restore",
			ErrNotEmpty, schema, m.Postgres.Schema)
	}
	return requireAlone(ctx, pool)
}

// requireAlone fails if other programs are connected to the database: processes that serve would go
// on with another state.
func requireAlone(ctx context.Context, pool *postgres.Pool) error {
	rows, err := pool.Unscoped().Query(ctx, `SELECT DISTINCT coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend'
			AND pid <> pg_backend_pid() AND application_name <> current_setting('application_name')`)
	if err != nil {
		return fmt.Errorf("look for other connections to Postgres: %w", err)
	}
	from, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for other connections to Postgres: %w", err)
	}
	if len(from) > 0 {
		return fmt.Errorf("%w: other programs are connected to Postgres, from %s: stop every process of Lodestone first",
			ErrInUse, strings.Join(from, ", "))
	}
	return nil
}

// load brings the tables of a backup into an empty database, in one transaction that also pauses
// mails, messages and webhooks.
func load(ctx context.Context, pool *postgres.Pool, from place, m Manifest) error {
	if _, err := pool.MigrateTo(ctx, m.Postgres.Schema); err != nil {
		return fmt.Errorf("restore Postgres: %w", err)
	}
	err := pool.Transaction(ctx, func(tx pgx.Tx) error {
		names, err := prepareTables(ctx, tx)
		if err != nil {
			return err
		}
		keys, err := dropKeys(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "TRUNCATE "+columns(names)); err != nil {
			return err
		}
		for _, t := range m.Postgres.Tables {
			if slices.Contains(notCopied, t.Name) {
				continue
			}
			if err := loadTable(ctx, tx, from, t); err != nil {
				return fmt.Errorf("load table %s: %w", t.Name, err)
			}
		}
		for name, value := range m.Postgres.Sequences {
			if _, err := tx.Exec(ctx, "SELECT setval($1::regclass, $2)", quoted(name), value); err != nil {
				return err
			}
		}
		for _, name := range names {
			if _, err := tx.Exec(ctx, "ALTER TABLE "+quoted(name)+" ENABLE TRIGGER USER"); err != nil {
				return err
			}
		}
		for _, key := range keys { // checks every row
			if _, err := tx.Exec(ctx, key); err != nil {
				return err
			}
		}
		return settle(ctx, store.New(tx), m)
	})
	if err != nil {
		return fmt.Errorf("restore Postgres: %w", err)
	}
	return readWhole(ctx, pool, m)
}

// readWhole reads every column of every row, also where Postgres stores long values apart.
func readWhole(ctx context.Context, pool *postgres.Pool, m Manifest) error {
	err := pool.Transaction(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, unlimited); err != nil {
			return err
		}
		for _, t := range m.Postgres.Tables {
			if _, err := tx.Conn().PgConn().CopyTo(ctx, io.Discard, "COPY "+quoted(t.Name)+" ("+columns(t.Columns)+
				") TO STDOUT"); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read Postgres whole: %w", err)
	}
	return nil
}

// settle records the restore, which pauses what leaves the installation.
func settle(ctx context.Context, q *store.Queries, m Manifest) error {
	return errors.Join(
		q.RecordRestored(ctx, store.RecordRestoredParams{Backup: m.Name, TakenAt: m.PostgresAt}),
		q.CompareCopiesNow(ctx), q.ForgetCaughtUp(ctx), q.EndUserSessions(ctx),
	)
}

// prepareTables returns the tables, whose triggers are off: what they note was noted when the rows
// were written.
func prepareTables(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx,
		"SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1")
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+quoted(name)+" DISABLE TRIGGER USER"); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// dropKeys drops the foreign keys, which only a superuser can switch off, and returns the
// statements that make them again.
func dropKeys(ctx context.Context, tx pgx.Tx) (again []string, err error) {
	rows, err := tx.Query(ctx, `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
			format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`)
	if err != nil {
		return nil, err
	}
	var drops []string
	var drop, key string
	if _, err := pgx.ForEachRow(rows, []any{&drop, &key}, func() error {
		drops, again = append(drops, drop), append(again, key)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, statement := range drops {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	return again, nil
}

func loadTable(ctx context.Context, tx pgx.Tx, from place, t Table) (err error) {
	r, err := from.open(ctx, t.Object.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	c := count(io.Discard)
	raw := io.TeeReader(r, c)
	z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, z, "COPY "+quoted(t.Name)+" ("+columns(t.Columns)+") FROM STDIN")
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return err
	}
	if c.object(t.Object.Name) != t.Object || tag.RowsAffected() != t.Rows {
		return fmt.Errorf("%s is not what was written (%d of %d rows)", t.Object.Name, tag.RowsAffected(), t.Rows)
	}
	return nil
}
