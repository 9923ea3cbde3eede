package postgres

import (
	"context"
	"fmt"

	"lodestone/pkg/schema"
)

// applied returns the numbers of the migrations that Postgres has, none without a schema.
func (p *Pool) applied(ctx context.Context) (map[int64]bool, error) {
	rows, err := p.pool.Query(ctx, "SELECT version_id FROM goose_db_version WHERE is_applied")
	applied := map[int64]bool{}
	if isUndefinedTable(err) {
		return applied, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations of Postgres: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return nil, fmt.Errorf("read the migrations of Postgres: %w", err)
		}
		applied[version] = true
	}
	if isUndefinedTable(rows.Err()) {
		return applied, nil
	}
	return applied, rows.Err()
}

// Pending returns the migrations that Migrate would apply. It changes nothing.
func (p *Pool) Pending(ctx context.Context) ([]schema.Migration, error) {
	applied, err := p.applied(ctx)
	if err != nil {
		return nil, err
	}
	return schema.Pending(migrations, applied)
}
