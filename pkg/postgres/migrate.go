package postgres

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that one migrator holds at a time.
const migrationLock = 0x6c6f6465_73746f6e // "lodeston"

// The times between two tries for a lock that another has.
const (
	migrationPause    = 500 * time.Millisecond
	maxMigrationPause = 10 * time.Second
)

// WithMigrationLock runs fn while it holds the lock of migrations, waiting for another process
// that holds it. It covers ClickHouse and Kafka as well, which have no lock of their own.
func (p *Pool) WithMigrationLock(ctx context.Context, fn func(ctx context.Context) error) error {
	// Each try is a transaction of its own, and none waits in a statement: an index that is made
	// concurrently waits for all transactions with a snapshot from before, so the one that has the
	// lock would wait for those that wait for it.
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

// tryMigrationLock runs fn if no other process has the lock. A transaction's lock goes with its
// connection, whatever ends it.
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
		// While fn works on other connections, this transaction is idle. Without a parameter, the
		// statement takes the place of the one before, whose snapshot Postgres keeps until then.
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
		return fn(ctx)
	})
}

// Migrate brings the schema up to date and returns the versions it applied, which are none when
// it was. Call it under WithMigrationLock.
//
// A migration that needs the lock of a table waits a second for it, since all who use the table
// wait behind it. Then it lets them go first, and tries again until ctx ends.
func (p *Pool) Migrate(ctx context.Context) (applied []int64, err error) {
	return p.migrate(ctx, migrations, func(provider *goose.Provider) ([]*goose.MigrationResult,
		error) {
		return provider.Up(ctx)
	})
}

// MigrateTo is Migrate up to a version, to restore what was stored under the schema of that
// version.
func (p *Pool) MigrateTo(ctx context.Context, version int64) (applied []int64, err error) {
	return p.migrate(ctx, migrations, func(provider *goose.Provider) ([]*goose.MigrationResult,
		error) {
		return provider.UpTo(ctx, version)
	})
}

func (p *Pool) migrate(ctx context.Context, all fs.FS, up func(*goose.Provider) ([]*goose.MigrationResult,
	error)) (applied []int64, err error) {
	if err := p.checkOrigin(ctx); err != nil {
		return nil, err
	}
	files, err := fs.Sub(all, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read Postgres migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(p.pool)
	defer func() { _ = db.Close() }() // closes the wrapper only, which cannot fail
	provider, err := goose.NewProvider(goose.DialectPostgres, db, boundedMigrations{files})
	if err != nil {
		return nil, fmt.Errorf("read Postgres migrations: %w", err)
	}
	for pause := migrationPause; ; pause = min(2*pause, maxMigrationPause) {
		results, err := up(provider)
		if partial, failed := errors.AsType[*goose.PartialError](err); failed {
			results = partial.Applied
		}
		for _, r := range results {
			applied = append(applied, r.Source.Version)
		}
		if err == nil && len(applied) > 0 {
			err = p.grantAccess(ctx)
		}
		if err == nil {
			return applied, nil
		}
		if !isLocked(err) || service.Sleep(ctx, pause) != nil {
			return nil, fmt.Errorf("migrate Postgres: %w", err)
		}
	}
}

// isLocked reports whether a migration gave way to others that use its tables.
func isLocked(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "55P03" || pg.Code == "40P01") // lock timeout, deadlock
}

// boundedMigrations are migrations that wait for each lock no longer than lockTimeout, except for
// those without a transaction: they take no lock that another waits for.
type boundedMigrations struct{ fs.FS }

const lockTimeout = "SET LOCAL lock_timeout = '1s';\n"

// Open implements fs.FS.
func (b boundedMigrations) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || path.Ext(name) != ".sql" {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	const up = "-- +goose Up\n"
	if before, after, found := strings.Cut(string(text), up); found && !strings.Contains(before, "+goose NO TRANSACTION") {
		text = []byte(before + up + lockTimeout + after)
	}
	return &migrationFile{f, bytes.NewReader(text)}, nil
}

// migrationFile is a migration with another text.
type migrationFile struct {
	fs.File
	text *bytes.Reader
}

// Read implements fs.File.
func (f *migrationFile) Read(p []byte) (int, error) { return f.text.Read(p) }
