package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"

	"lodestone/pkg/email"
)

// asciiDomains is the migration since which the keys of addresses have their domains in ASCII. A submission whose
// address was submitted in both forms to one link keeps its key: there is another one for the address.
func asciiDomains() *goose.Migration {
	const version = 24
	return goose.NewGoMigration(version, &goose.GoFunc{RunTx: writeASCIIDomains}, nil)
}

func writeASCIIDomains(ctx context.Context, tx *sql.Tx) error {
	for table, update := range map[string]string{
		"access_links": "UPDATE access_links SET email_key = $2 WHERE email_key = $1",
		"submissions": `UPDATE submissions s SET email_key = $2 WHERE email_key = $1
				AND NOT EXISTS (SELECT FROM submissions o WHERE o.generic_link_id = s.generic_link_id AND o.email_key = $2)`,
	} {
		keys, err := unicodeKeys(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if _, err := tx.ExecContext(ctx, update, key, email.Key(key)); err != nil {
				return fmt.Errorf("write keys of addresses: %w", err)
			}
		}
	}
	return nil
}

func unicodeKeys(ctx context.Context, tx *sql.Tx, table string) (keys []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT DISTINCT email_key FROM "+table+` WHERE email_key ~ '@.*([^\x01-\x7f]|xn--)'`) //nolint:gosec // the tables are those of this file
	if err != nil {
		return nil, fmt.Errorf("read keys of addresses: %w", err)
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("read keys of addresses: %w", err)
		}
		if email.Key(key) != key {
			keys = append(keys, key)
		}
	}
	return keys, rows.Err()
}
