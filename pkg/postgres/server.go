package postgres

import (
	"context"
	"fmt"
	"time"

	"lodestone/pkg/schema"
)

// Server is what a program may ask about the Postgres that it uses, without a schema.
type Server struct {
	Version        string
	Number         int // 150003 is 15.3
	Now            time.Time
	User           string
	CreatesObjects bool // may migrate
	SeesOthers     bool // sees open transactions of other users, which reports wait for
	IsAccount      bool // may take the role whose rows are one account's; also true while there is no such role
	FreeConns      int  // that a user without privileges can still open
	Standby        bool
}

// Describe asks the server.
func (p *Pool) Describe(ctx context.Context) (s Server, err error) {
	err = p.pool.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int, clock_timestamp(), current_user,
		has_database_privilege(current_database(), 'CREATE') AND has_schema_privilege(current_schema(), 'CREATE'),
		pg_has_role('pg_read_all_stats', 'USAGE'),
		coalesce((SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = 'lodestone_account'), true),
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'),
		pg_is_in_recovery()`).
		Scan(&s.Version, &s.Number, &s.Now, &s.User, &s.CreatesObjects, &s.SeesOthers, &s.IsAccount, &s.FreeConns, &s.Standby)
	if err != nil {
		return s, fmt.Errorf("describe Postgres: %w", err)
	}
	return s, nil
}

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
