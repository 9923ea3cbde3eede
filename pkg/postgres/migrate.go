package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that one migrator holds at a time.
const migrationLock = 0x6c6f6465_73746f6e // "lodeston"

// migrationPause is the time between two tries for a lock that another has.
const migrationPause = 500 * time.Millisecond

// WithMigrationLock runs fn while it holds the lock of migrations, waiting for another process
// that holds it. It covers ClickHouse and Kafka as well, which have no lock of their own.
func (p *Pool) WithMigrationLock(ctx context.Context, fn func(ctx context.Context) error) error {
	// Each try is a transaction of its own, and none waits in a statement: an index that is made concurrently waits for all transactions
	// with a snapshot from before, so the one that has the lock would wait for those that wait for it.
	for {
		err := p.tryMigrationLock(ctx, fn)
		if !errors.Is(err, errMigrating) {
			return err
		}
		if err := service.Sleep(ctx, migrationPause); err != nil {
			return fmt.Errorf("wait for the migration of another process: %w", err)
		}
	}
}

var errMigrating = errors.New("another process migrates")

// tryMigrationLock runs fn if no other process has the lock. A transaction's lock goes with its connection, whatever ends it.
func (p *Pool) tryMigrationLock(ctx context.Context, fn func(ctx context.Context) error) error {
	return p.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		mine, err := q.TryLock(ctx, migrationLock)
		if err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		if !mine {
			return errMigrating
		}
		// While fn works on other connections, this transaction is idle. Without a parameter, the statement takes the place of the one
		// before, whose snapshot Postgres keeps until then.
		if err := q.AllowIdle(ctx); err != nil {
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
