package mirror

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/store"
)

// entity is a table that is copied: it has the same name in Postgres and in ClickHouse.
type entity struct {
	table   string
	columns string // of ClickHouse, without version and deleted; the first is id
	// read returns the present values of the columns, for those of the ids that exist.
	read func(ctx context.Context, q *store.Queries, ids []uuid.UUID) ([][]any, error)
}

// sources are the columns that say where a submission came from.
const sources = "utm_source, utm_medium, utm_campaign, utm_content, utm_term, referrer"

func entities() []entity {
	return []entity{
		{"lead_magnets", "id, account_id, title, description, is_active, file_version, page_count, created_at, updated_at",
			leadMagnets},
		{"generic_links", "id, account_id, lead_magnet_id, slug, title, active, require_verification, submission_count, created_at, updated_at", genericLinks},
		{"access_links", "id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_domain, person_id, source, " + sources +
			", max_views, expires_at, is_active, created_at, updated_at", accessLinks},
		{"submissions", "id, account_id, lead_magnet_id, generic_link_id, email, email_domain, person_id, verification_required, verified, " + sources +
			", submitted_at, verified_at, consented_at, answers", submissions},
		{"suspects", "id, account_id, access_link_id, rule, started_at", suspects},
	}
}

func leadMagnets(ctx context.Context, q *store.Queries, ids []uuid.UUID) (rows [][]any, err error) {
	found, err := q.CopyOfLeadMagnets(ctx, ids)
	for _, r := range found {
		rows = append(rows, []any{r.ID, r.AccountID, r.Title, r.Description, r.IsActive, r.FileVersion, r.PageCount,
			r.CreatedAt.UTC(), r.UpdatedAt.UTC()})
	}
	return rows, err
}

func genericLinks(ctx context.Context, q *store.Queries, ids []uuid.UUID) (rows [][]any, err error) {
	found, err := q.CopyOfGenericLinks(ctx, ids)
	for _, r := range found {
		rows = append(rows, []any{
			r.ID, r.AccountID, r.LeadMagnetID, r.Slug, r.Title, r.Active, r.RequireVerification, r.SubmissionCount,
			r.CreatedAt.UTC(), r.UpdatedAt.UTC(),
		})
	}
	return rows, err
}

func accessLinks(ctx context.Context, q *store.Queries, ids []uuid.UUID) (rows [][]any, err error) {
	found, err := q.CopyOfAccessLinks(ctx, ids)
	for _, r := range found {
		rows = append(rows, []any{
			r.ID, r.AccountID, r.LeadMagnetID, r.GenericLinkID, r.SubmissionID, r.Email, r.EmailDomain, r.PersonID, r.Source,
			r.UtmSource, r.UtmMedium, r.UTMCampaign, r.UtmContent, r.UtmTerm, r.Referrer,
			r.MaxViews, inUTC(r.ExpiresAt), r.IsActive, r.CreatedAt.UTC(), r.UpdatedAt.UTC(),
		})
	}
	return rows, err
}

func submissions(ctx context.Context, q *store.Queries, ids []uuid.UUID) (rows [][]any, err error) {
	found, err := q.CopyOfSubmissions(ctx, ids)
	for _, r := range found {
		rows = append(rows, []any{
			r.ID, r.AccountID, r.LeadMagnetID, r.GenericLinkID, r.Email, r.EmailDomain, r.PersonID,
			r.VerificationRequired, r.Verified,
			r.UtmSource, r.UtmMedium, r.UTMCampaign, r.UtmContent, r.UtmTerm, r.Referrer,
			r.SubmittedAt.UTC(), inUTC(r.VerifiedAt), inUTC(r.ConsentedAt), r.Answers,
		})
	}
	return rows, err
}

func suspects(ctx context.Context, q *store.Queries, ids []uuid.UUID) (rows [][]any, err error) {
	found, err := q.CopyOfSuspects(ctx, ids)
	for _, r := range found {
		rows = append(rows, []any{r.ID, r.AccountID, r.AccessLinkID, r.Rule, r.StartedAt.UTC()})
	}
	return rows, err
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

// copyVersions stores the page counts of all versions of lead magnets. They are never removed:
// events of a deleted lead magnet stay, and with them the question who finished it.
func copyVersions(ctx context.Context, q *store.Queries, conn driver.Conn,
	magnets map[uuid.UUID]bool, version uint64) error {
	counts, err := q.PageCounts(ctx, slices.Collect(maps.Keys(magnets)))
	if err != nil {
		return fmt.Errorf("read page counts: %w", err)
	}
	if len(counts) == 0 {
		return nil
	}
	ctx = native.Context(ctx, native.WithSettings(native.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx,
		"INSERT INTO lodestone.magnet_versions (account_id, lead_magnet_id, magnet_version, page_count, version)")
	if err != nil {
		return fmt.Errorf("copy page counts: %w", err)
	}
	defer func() { _ = batch.Close() }() // as in copy
	for _, c := range counts {
		if err := batch.Append(c.AccountID, c.LeadMagnetID, uint32(c.Version), uint32(c.PageCount), version); err != nil {
			return fmt.Errorf("copy page counts: %w", err)
		}
	}
	return wrap(batch.Send(), "copy page counts")
}

// copyBatch copies the current state of the entities that the oldest changes name, and returns the
// number of changes. The changes are deleted when ClickHouse has acknowledged the copies: if
// anything fails in between, they are copied again.
func (m *Mirror) copyBatch(ctx context.Context, conn driver.Conn) (changes int, err error) {
	if some, err := m.queries.AnyEntityChange(ctx, m.copy); err != nil || !some {
		return 0, wrap(err, "look for changes to copy")
	}
	_, err = m.locked(ctx, copyTimeout, func(ctx context.Context, tx pgx.Tx) error {
		q := store.New(tx)
		numbers, ids, err := readChanges(ctx, q, m.copy)
		if err != nil || len(numbers) == 0 {
			return err
		}
		version, err := q.EntityVersion(ctx)
		if err != nil {
			return fmt.Errorf("take a version: %w", err)
		}
		for _, e := range entities() {
			if len(ids[e.table]) == 0 {
				continue
			}
			err := clickhouse.EachShard(conn, func(shard driver.Conn) error {
				if e.table == "lead_magnets" {
					if err := copyVersions(ctx, q, shard, ids[e.table], uint64(version)); err != nil {
						return err
					}
				}
				return e.copy(ctx, q, shard, maps.Clone(ids[e.table]), uint64(version))
			})
			if err != nil {
				return err
			}
			m.rows.Add(float64(len(ids[e.table])))
		}
		if err := q.RemoveEntityChanges(ctx, store.RemoveEntityChangesParams{Copy: m.copy, Numbers: numbers}); err != nil {
			return fmt.Errorf("remove copied changes: %w", err)
		}
		changes = len(numbers)
		return nil
	})
	return changes, err
}

// readChanges returns the oldest changes, and the ids that they name, each once.
func readChanges(ctx context.Context, q *store.Queries, number int32) (numbers []int64,
	ids map[string]map[uuid.UUID]bool, err error) {
	changes, err := q.EntityChanges(ctx, store.EntityChangesParams{Copy: number, MaxChanges: batchChanges})
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
func (e entity) copy(ctx context.Context, q *store.Queries, conn driver.Conn,
	ids map[uuid.UUID]bool, version uint64) error {
	rows, err := e.read(ctx, q, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return fmt.Errorf("read %s: %w", e.table, err)
	}
	ctx = native.Context(ctx, native.WithSettings(native.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO lodestone."+e.table+" ("+e.columns+", version)")
	if err != nil {
		return fmt.Errorf("copy %s: %w", e.table, err)
	}
	defer func() { _ = batch.Close() }() // it was sent, or the error that counts is another
	for _, row := range rows {
		delete(ids, row[0].(uuid.UUID))
		if err := batch.Append(append(row, version)...); err != nil {
			return fmt.Errorf("copy %s: %w", e.table, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("copy %s: %w", e.table, err)
	}
	return e.remove(ctx, conn, ids, version)
}

// remove hides the copies of deleted entities; ClickHouse drops them when it merges. A copy is
// replaced by a row of the same account, which only ClickHouse still knows. A copy that an insert
// of an earlier attempt brings later is left to compare.
func (e entity) remove(ctx context.Context, conn driver.Conn, ids map[uuid.UUID]bool, version uint64) error {
	if len(ids) == 0 {
		return nil
	}
	return wrap(conn.Exec(ctx, "INSERT INTO lodestone."+e.table+" (account_id, id, version, deleted) "+
		"SELECT DISTINCT account_id, id, {version:UInt64}, 1 FROM lodestone."+e.table+" WHERE id IN {ids:Array(UUID)}",
		native.Named("version", strconv.FormatUint(version, 10)),
		native.Named("ids", clickhouse.UUIDs(slices.Collect(maps.Keys(ids))))),
		"remove copies of "+e.table)
}

// locked runs fn in a transaction during which no other mirror works. If another one is working it
// does nothing and returns false.
func (m *Mirror) locked(ctx context.Context, limit time.Duration,
	fn func(ctx context.Context, tx pgx.Tx) error) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = m.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if mine, err = store.New(tx).TryLock(ctx, mirrorLock+int64(m.copy)); err != nil {
			return fmt.Errorf("take the mirror's lock: %w", err)
		}
		if !mine {
			return nil
		}
		return fn(ctx, tx)
	})
	return mine, err
}

func wrap(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
