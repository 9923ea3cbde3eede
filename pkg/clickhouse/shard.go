package clickhouse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	native "github.com/ClickHouse/clickhouse-go/v2"
)

// nameShards gives each shard of a copy that has no id the next one. The first server of an
// installation, which may be its only one for long, is shard 1.
func nameShards(ctx context.Context, c Config, servers []Config) error {
	ids := make([]uint16, len(servers))
	for i, server := range servers {
		id, err := readID(ctx, server)
		if err != nil {
			return err
		}
		if id != 0 {
			if err := c.requireCopy(id); err != nil {
				return err
			}
		}
		ids[i] = id
	}
	for i, server := range servers {
		if ids[i] != 0 {
			if slices.Contains(ids[:i], ids[i]) {
				return fmt.Errorf("two servers of --clickhouse-shards are shard %d: they are one server under two addresses, or one is a copy of the other", ids[i])
			}
			continue
		}
		ids[i] = max(slices.Max(ids)+1, c.firstShard())
		err := onServer(server, func(db *sql.DB) error {
			_, err := db.ExecContext(ctx,
				fmt.Sprintf("INSERT INTO lodestone.shard (id) SETTINGS async_insert = 0 VALUES (%d)", ids[i]))
			return err
		})
		if err != nil {
			return fmt.Errorf("write the id of a ClickHouse shard: %w", err)
		}
	}
	return nil
}

// RenameShard gives a server that was restored from a backup of another copy of the events the id
// of the same shard in its own.
func RenameShard(ctx context.Context, server Config) error {
	is, err := readID(ctx, server)
	if err != nil || is == 0 || server.requireCopy(is) == nil {
		return err
	}
	err = onServer(server, func(db *sql.DB) error {
		for _, statement := range []string{
			"TRUNCATE TABLE lodestone.shard",
			fmt.Sprintf("INSERT INTO lodestone.shard (id) SETTINGS async_insert = 0 VALUES (%d)",
				server.firstShard()+(is-1)%shardsOfACopy),
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the id of a ClickHouse shard: %w", err)
	}
	return nil
}

// readID returns the id of a server's shard, or 0.
func readID(ctx context.Context, server Config) (id uint16, err error) {
	err = onServer(server, func(db *sql.DB) error {
		// More than one row is a mistake by hand, which readers refuse.
		return db.QueryRowContext(ctx, "SELECT max(id) FROM lodestone.shard").Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("read the id of a ClickHouse shard: %w", err)
	}
	return id, nil
}

func onServer(c Config, fn func(db *sql.DB) error) error {
	o, err := c.Options()
	if err != nil {
		return err
	}
	db := native.OpenDB(o)
	return errors.Join(fn(db), db.Close())
}

// readEverywhere makes the tables that read all shards, and makes the views for SQL users read
// them. It replaces tables, so that they have the columns of the present schema.
func readEverywhere(ctx context.Context, c Config) error {
	return onServer(c, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+AllDatabase); err != nil {
			return fmt.Errorf("create ClickHouse database: %w", err)
		}
		for _, table := range spread {
			statement := fmt.Sprintf(
				"CREATE OR REPLACE TABLE %s.%s AS lodestone.%[2]s ENGINE = Distributed('%s', 'lodestone', '%[2]s')",
				AllDatabase, table, cluster)
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("create a table over all ClickHouse shards: %w", err)
			}
		}
		return replaceViews(ctx, db)
	})
}

// replaceViews makes the views that still read one shard read all of them.
func replaceViews(ctx context.Context, db *sql.DB) (err error) {
	rows, err := db.QueryContext(ctx,
		"SELECT name, as_select FROM system.tables WHERE database = 'analytics' AND engine = 'View'")
	if err != nil {
		return fmt.Errorf("read the views for SQL users: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	views := map[string]string{}
	for rows.Next() {
		var name, query string
		if err := rows.Scan(&name, &query); err != nil {
			return fmt.Errorf("read the views for SQL users: %w", err)
		}
		if all := OverShards(query); all != query {
			views[name] = all
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the views for SQL users: %w", err)
	}
	for name, query := range views {
		if _, err := db.ExecContext(ctx, "CREATE OR REPLACE VIEW analytics."+name+
			" DEFINER = CURRENT_USER SQL SECURITY DEFINER AS "+query); err != nil {
			return fmt.Errorf("make the view %s read all ClickHouse shards: %w", name, err)
		}
	}
	return nil
}

// viewsEverywhere returns the migrations for a server whose views read all shards: one that
// replaces a view must not make it read one shard, even for a moment. A server that has no tables
// over all shards yet gets them after its first migration.
func viewsEverywhere(ctx context.Context, db *sql.DB, files fs.FS) (fs.FS, error) {
	var ready bool
	err := db.QueryRowContext(ctx, "SELECT count() = ? FROM system.tables WHERE database = ?",
		len(spread), AllDatabase).Scan(&ready)
	if err != nil {
		return nil, fmt.Errorf("look for tables over all ClickHouse shards: %w", err)
	}
	if !ready {
		return files, nil
	}
	return viewFiles{files}, nil
}

// viewFiles are migrations whose views read all shards.
type viewFiles struct{ fs.FS }

var createView = regexp.MustCompile(`(?s)CREATE (OR REPLACE )?VIEW .*?;\n`)

// Open implements fs.FS.
func (v viewFiles) Open(name string) (fs.File, error) {
	f, err := v.FS.Open(name)
	if err != nil || path.Ext(name) != ".sql" {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &rewrittenFile{f, strings.NewReader(createView.ReplaceAllStringFunc(string(text), OverShards))}, nil
}

type rewrittenFile struct {
	fs.File
	text *strings.Reader
}

// Read implements io.Reader.
func (f *rewrittenFile) Read(b []byte) (int, error) { return f.text.Read(b) }
