package mirror

import (
	"context"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// entity is a table that is copied: it has the same name in Postgres and in ClickHouse.
type entity struct {
	table   string
	columns string // of ClickHouse, without version and deleted; the first is id
	rows    string // gives these columns from Postgres; $1 says whether addresses are copied
	id      string // the id's column in rows
}

func entities() []entity {
	return []entity{
		{
			"lead_magnets", "id, account_id, title, description, is_active, file_version, page_count, created_at, updated_at",
			`SELECT m.id, m.account_id, m.title, m.description, m.is_active, m.file_version, coalesce(f.page_count, 0) AS page_count, m.created_at, m.updated_at
			FROM lead_magnets m LEFT JOIN lead_magnet_files f ON f.lead_magnet_id = m.id AND f.version = m.file_version
			WHERE $1::boolean IS NOT NULL`, "m.id",
		},
		{
			"generic_links", "id, account_id, lead_magnet_id, slug, title, active, require_verification, submission_count, created_at, updated_at",
			`SELECT id, account_id, lead_magnet_id, slug, title, active, require_verification, submission_count, created_at, updated_at
			FROM generic_links WHERE $1::boolean IS NOT NULL`, "id",
		},
		{
			"access_links", "id, account_id, lead_magnet_id, generic_link_id, email, source, max_views, expires_at, is_active, created_at, updated_at",
			`SELECT id, account_id, lead_magnet_id, generic_link_id, CASE WHEN $1::boolean THEN email END AS email, source, max_views, expires_at, is_active, created_at, updated_at
			FROM access_links WHERE $1::boolean IS NOT NULL`, "id",
		},
	}
}

// copyBatch copies the current state of the entities that the oldest changes name, and returns the number of changes.
// The changes are deleted when ClickHouse has acknowledged the copies: if anything fails in between, they are copied
// again.
func (m *Mirror) copyBatch(ctx context.Context, conn driver.Conn) (changes int, err error) {
	if some, err := m.queries.AnyEntityChange(ctx); err != nil || !some {
		return 0, wrap(err, "look for changes to copy")
	}
	_, err = m.locked(ctx, copyTimeout, func(ctx context.Context, tx pgx.Tx) error {
		q := store.New(tx)
		numbers, ids, err := readChanges(ctx, q)
		if err != nil || len(numbers) == 0 {
			return err
		}
		now, err := q.EntityVersion(ctx)
		if err != nil {
			return fmt.Errorf("take a version: %w", err)
		}
		for _, e := range entities() {
			if len(ids[e.table]) == 0 {
				continue
			}
			if err := e.copy(ctx, tx, conn, ids[e.table], uint64(now.Version), now.Emails); err != nil {
				return err
			}
			m.rows.Add(float64(len(ids[e.table])))
		}
		if err := q.RemoveEntityChanges(ctx, numbers); err != nil {
			return fmt.Errorf("remove copied changes: %w", err)
		}
		changes = len(numbers)
		return nil
	})
	return changes, err
}

// readChanges returns the oldest changes, and the ids that they name, each once.
func readChanges(ctx context.Context, q *store.Queries) (numbers []int64, ids map[string]map[uuid.UUID]bool, err error) {
	changes, err := q.EntityChanges(ctx, batchChanges)
	if err != nil {
		return nil, nil, fmt.Errorf("read changes: %w", err)
	}
	ids = map[string]map[uuid.UUID]bool{}
	for _, c := range changes {
		numbers = append(numbers, c.Number)
		if ids[c.Entity] == nil {
			ids[c.Entity] = map[uuid.UUID]bool{}
		}
		ids[c.Entity][c.ID] = true
	}
	return numbers, ids, nil
}

// copy stores the current state of the ids, and removes those that no longer exist from it.
func (e entity) copy(ctx context.Context, tx pgx.Tx, conn driver.Conn, ids map[uuid.UUID]bool, version uint64, emails bool) error {
	list := make([]uuid.UUID, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	ctx = native.Context(ctx, native.WithSettings(native.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO lodestone."+e.table+" ("+e.columns+", version)")
	if err != nil {
		return fmt.Errorf("copy %s: %w", e.table, err)
	}
	defer func() { _ = batch.Close() }() // it was sent, or the error that counts is another
	rows, err := tx.Query(ctx, e.rows+" AND "+e.id+" = ANY($2)", emails, list)
	if err != nil {
		return fmt.Errorf("read %s: %w", e.table, err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return fmt.Errorf("read %s: %w", e.table, err)
		}
		for i, v := range values {
			if id, yes := v.([16]byte); yes {
				values[i] = uuid.UUID(id)
			}
			if at, yes := v.(time.Time); yes {
				values[i] = at.UTC()
			}
		}
		delete(ids, values[0].(uuid.UUID))
		if err := batch.Append(append(values, version)...); err != nil {
			return fmt.Errorf("copy %s: %w", e.table, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", e.table, err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("copy %s: %w", e.table, err)
	}
	return e.remove(ctx, conn, ids, version)
}

// remove hides the copies of deleted entities; ClickHouse drops them when it merges.
func (e entity) remove(ctx context.Context, conn driver.Conn, ids map[uuid.UUID]bool, version uint64) error {
	if len(ids) == 0 {
		return nil
	}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO lodestone."+e.table+" (id, version, deleted)")
	if err != nil {
		return fmt.Errorf("remove copies of %s: %w", e.table, err)
	}
	defer func() { _ = batch.Close() }()
	for id := range ids {
		if err := batch.Append(id, version, uint8(1)); err != nil {
			return fmt.Errorf("remove copies of %s: %w", e.table, err)
		}
	}
	return wrap(batch.Send(), "remove copies of "+e.table)
}
