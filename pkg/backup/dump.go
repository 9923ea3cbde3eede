package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// notCopied are the tables that say something of the servers that are backed up: what Postgres was
// restored from.
var notCopied = []string{"restored"}

// The tables of Postgres and their columns. What is unlogged (salts, counts) is left out as well.
const tablesToCopy = `
SELECT c.relname::text AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relpersistence = 'p'
    AND c.relname <> ALL($1)
GROUP BY c.oid, c.relname ORDER BY c.relname`

// unlimited lets a transaction read everything, however long it takes.
const unlimited = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL row_security = off"

// dump writes every table, of one snapshot.
func dump(ctx context.Context, pool *postgres.Pool, to place, folder string) (d Database,
	at time.Time, files []File, err error) {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, pool.Unscoped(), options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, unlimited); err != nil {
			return err
		}
		err := tx.QueryRow(ctx,
			"SELECT clock_timestamp(), current_setting('server_version'), (SELECT max(version_id) FROM goose_db_version WHERE is_applied)").
			Scan(&at, &d.Server, &d.Schema)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, tablesToCopy, notCopied)
		if err != nil {
			return err
		}
		if d.Tables, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Table, err error) {
			return t,
				row.Scan(&t.Name, &t.Columns)
		}); err != nil {
			return err
		}
		for i := range d.Tables {
			if err := dumpTable(ctx, tx, to, folder, &d.Tables[i]); err != nil {
				return fmt.Errorf("copy table %s: %w", d.Tables[i].Name, err)
			}
		}
		if d.Sequences, err = sequences(ctx, tx); err != nil {
			return err
		}
		files, err = bucketFiles(ctx, tx)
		return err
	})
	if err != nil {
		return d, at, nil, fmt.Errorf("back up Postgres: %w", err)
	}
	return d, at, files, nil
}

func dumpTable(ctx context.Context, tx pgx.Tx, to place, folder string, t *Table) (err error) {
	t.Object, err = to.create(ctx, folder+"/"+t.Name+".copy.zst", func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		tag, err := tx.Conn().PgConn().CopyTo(ctx, z, "COPY "+quoted(t.Name)+" ("+columns(t.Columns)+") TO STDOUT")
		t.Rows = tag.RowsAffected()
		return errors.Join(err, z.Close())
	})
	return err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func columns(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoted(name)
	}
	return strings.Join(list, ", ")
}

func sequences(ctx context.Context, tx pgx.Tx) (map[string]int64, error) {
	rows, err := tx.Query(ctx,
		"SELECT sequencename::text, last_value FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL")
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	var name string
	var value int64
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		all[name] = value
		return nil
	})
	return all, err
}

// bucketFiles returns the files that are objects of the bucket.
func bucketFiles(ctx context.Context, tx pgx.Tx) ([]File, error) {
	rows, err := store.New(tx).FilesInBucket(ctx)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files := make([]File, len(rows))
	for i, r := range rows {
		files[i] = File{
			ID: *r.ObjectID, Bytes: r.FileSize, SHA256: hex.EncodeToString(r.SHA256),
			of: Gone{ID: *r.ObjectID, LeadMagnetID: r.LeadMagnetID, Version: r.Version, Title: r.Title},
		}
	}
	return files, nil
}
