package postgres

import (
	"context"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// MigrateBy is Migrate with other migrations, in a folder migrations.
func (p *Pool) MigrateBy(ctx context.Context, files fs.FS) (applied []int64, err error) {
	return p.migrate(ctx, files, func(provider *goose.Provider) ([]*goose.MigrationResult,
		error) {
		return provider.Up(ctx)
	})
}

// EachConnection runs a statement on every connection of the pool.
func (p *Pool) EachConnection(ctx context.Context, statement string) error {
	for _, c := range p.pool.AcquireAllIdle(ctx) {
		_, err := c.Exec(ctx, statement)
		c.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
