package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed access.sql
var accessRules string

// unprotected names the tables of accounts without the policy that keeps accounts apart. It is
// empty as well if all is well.
const unprotected = `
	SELECT c.relname::text FROM pg_class c
	WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
	AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped)
	AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'account'))
	ORDER BY 1`

// RepairAccess makes the role of accounts, its policies and its rights again where they are
// missing, as after a dump was restored into a cluster without that role. It returns the tables
// whose policy was missing. Call it after Migrate, under WithMigrationLock.
func (p *Pool) RepairAccess(ctx context.Context) ([]string, error) {
	missing, err := p.unprotected(ctx)
	if err != nil {
		return nil, err
	}
	return missing, p.grantAccess(ctx)
}

// grantAccess makes what of the role of accounts, its policies and its rights is missing.
func (p *Pool) grantAccess(ctx context.Context) error {
	return p.Transaction(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, accessRules); err != nil {
			return fmt.Errorf("grant the rights of accounts: %w", err)
		}
		return nil
	})
}

func (p *Pool) unprotected(ctx context.Context) ([]string, error) {
	rows, err := p.pool.Query(ctx, unprotected)
	if err != nil {
		return nil, fmt.Errorf("read the policies of accounts: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read the policies of accounts: %w", err)
	}
	return names, nil
}
