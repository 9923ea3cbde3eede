package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"lodestone/pkg/schema"
)

// CheckSchema returns an error unless Postgres answers and its schema suits this program.
// schema.IsMismatch tells the second case from the first.
func (p *Pool) CheckSchema(ctx context.Context) error {
	var version int64
	var missing []string
	const applied = " FROM goose_db_version WHERE is_applied"
	err := p.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0), ARRAY("+unprotected+")"+applied).
		Scan(&version, &missing)
	if isUndefinedTable(err) { // no schema, or one of an early checkout
		if mismatch := p.checkOrigin(ctx); mismatch != nil {
			return mismatch
		}
		return schema.Compare("Postgres", 0, migrations)
	}
	if err != nil {
		return fmt.Errorf("read the version of the Postgres schema: %w", explain(err))
	}
	if err := schema.Compare("Postgres", version, migrations); err != nil {
		return err
	}
	if len(missing) > 0 {
		return schema.Incomplete("Postgres", "lacks the row-level security of "+strings.Join(missing, ", "))
	}
	return nil
}

// checkOrigin returns an *schema.Error if a checkout from before the first release made the schema.
func (p *Pool) checkOrigin(ctx context.Context) error {
	var version int64
	err := p.pool.QueryRow(ctx,
		"SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	if isUndefinedTable(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the version of the Postgres schema: %w", explain(err))
	}
	return schema.CompareOrigin("Postgres", version, migrations)
}

func isUndefinedTable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "42P01"
}

// NewestMigration returns the version of the schema that this program needs.
func NewestMigration() (int64, error) { return schema.Newest(migrations) }
