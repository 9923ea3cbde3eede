package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that one migrator holds at a time.
const migrationLock = 0x6c6f6465_73746f6e // "lodeston"

// WithMigrationLock runs fn while it holds the lock of migrations, waiting for another process
// that holds it. It covers ClickHouse and Kafka as well, which have no lock of their own.
func (p *Pool) WithMigrationLock(ctx context.Context, fn func(ctx context.Context) error) error {
	// A transaction's lock goes with its connection, whatever ends it.
	return p.Transaction(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		return fn(ctx)
	})
}

// Migrate brings the schema up to date and returns the versions it applied, which are none when
// it was. Call it under WithMigrationLock.
func (p *Pool) Migrate(ctx context.Context) ([]int64, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read Postgres migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(p.pool)
	defer func() { _ = db.Close() }() // closes the wrapper only, which cannot fail
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithGoMigrations(asciiDomains()))
	if err != nil {
		return nil, fmt.Errorf("read Postgres migrations: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate Postgres: %w", err)
	}
	applied := make([]int64, 0, len(results))
	for _, r := range results {
		applied = append(applied, r.Source.Version)
	}
	return applied, nil
}
