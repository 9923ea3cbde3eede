package clickhouse

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"

	"lodestone/pkg/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// functions are statements that define the words of reports, each ended by a semicolon and a line
// break.
//
//go:embed functions.sql
var functions string

// Migrate brings the schema of every shard up to date and returns the versions that it applied,
// none if all were current. A server that has no id among the shards gets the next one. ClickHouse
// has no lock for migrations: the caller holds the one in Postgres.
func Migrate(ctx context.Context, c Config) (applied []int64, err error) {
	servers, err := c.Servers()
	if err != nil {
		return nil, err
	}
	several := len(servers) > 1
	for _, server := range servers {
		if err := createDatabases(ctx, server); err != nil {
			return nil, err
		}
		versions, err := migrateServer(ctx, server, several)
		if err != nil {
			return nil, err
		}
		applied = append(applied, versions...)
	}
	slices.Sort(applied)
	if err := nameShards(ctx, c, servers); err != nil {
		return nil, err
	}
	if several {
		for _, server := range servers {
			if err := readEverywhere(ctx, server); err != nil {
				return nil, err
			}
		}
	}
	return slices.Compact(applied), nil
}

// migrateServer brings the schema of one server up to date.
func migrateServer(ctx context.Context, c Config, several bool) (applied []int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read ClickHouse migrations: %w", err)
	}
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	// Rows that are there are rewritten in the background, however many they are.
	o.Settings = maps.Clone(o.Settings)
	if o.Settings == nil {
		o.Settings = native.Settings{}
	}
	o.Settings["alter_sync"], o.Settings["mutations_sync"] = 0, 0
	db := native.OpenDB(o)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkOrigin(ctx, db); err != nil {
		return nil, err
	}
	if err := createFunctions(ctx, db); err != nil {
		return nil, err
	}
	if several {
		if files, err = viewsEverywhere(ctx, db, files); err != nil {
			return nil, err
		}
	}
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, files)
	if err != nil {
		return nil, fmt.Errorf("read ClickHouse migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate ClickHouse: %w", err)
	}
	for _, r := range results {
		applied = append(applied, r.Source.Version)
	}
	return applied, nil
}

// createDatabases creates the databases first: a session in one that does not exist is refused.
func createDatabases(ctx context.Context, c Config) (err error) {
	o, err := c.Options()
	if err != nil {
		return err
	}
	o.Auth.Database = ""
	db := native.OpenDB(o)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS lodestone",
		"CREATE DATABASE IF NOT EXISTS analytics",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create ClickHouse databases: %w", err)
		}
	}
	return nil
}

// createFunctions creates the functions that migrations and reports use. They belong to no
// database: a backup of databases lacks them, and the next migration brings them back.
func createFunctions(ctx context.Context, db *sql.DB) error {
	for statement := range strings.SplitSeq(functions, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return functionsError(err)
		}
	}
	return nil
}

// functionsError names the rights that are missing, if some are.
func functionsError(err error) error {
	if code, _ := IsException(err); code == accessDenied {
		return fmt.Errorf("create ClickHouse functions: the user needs CREATE FUNCTION and DROP FUNCTION ON *.* (docs/operations.md, rights in ClickHouse): %w", err)
	}
	return fmt.Errorf("create ClickHouse functions: %w", err)
}

// checkOrigin returns an *schema.Error if a checkout from before the first release made the schema.
func checkOrigin(ctx context.Context, db *sql.DB) error {
	var version int64
	err := db.QueryRowContext(ctx,
		"SELECT max(version_id) FROM lodestone.goose_db_version WHERE is_applied = 1").Scan(&version)
	if code, _ := IsException(err); err != nil && code != unknownTable {
		return fmt.Errorf("read the version of the ClickHouse schema: %w", err)
	}
	return schema.CompareOrigin("ClickHouse", version, migrations)
}

// CheckSchema returns an error unless ClickHouse answers and its schema suits this program.
// schema.IsMismatch recognises an unsuitable schema.
func CheckSchema(ctx context.Context, conn native.Conn) error {
	var version int64
	err := conn.QueryRow(ctx, "SELECT max(version_id) FROM lodestone.goose_db_version WHERE is_applied = 1").Scan(&version)
	if code, _ := IsException(err); err != nil && code != unknownTable && code != unknownDatabase {
		return fmt.Errorf("read the version of the ClickHouse schema: %w", err)
	}
	return schema.Compare("ClickHouse", version, migrations)
}

// NewestMigration returns the version of the schema that this program needs.
func NewestMigration() (int64, error) { return schema.Newest(migrations) }

// ClickHouse's codes for missing databases, tables and rights (ErrorCodes.cpp).
const (
	accessDenied    = 497
	unknownTable    = 60
	unknownDatabase = 81
)
