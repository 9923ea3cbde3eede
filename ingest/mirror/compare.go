package mirror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const (
	compareEvery   = 15 * time.Minute // over all processes
	compareTimeout = 5 * time.Minute  // of one comparison
)

// content is a digest of the rows in a bucket, by the last three digits of their ids: the number of
// rows, and the sum of the hashes of all their columns.
type content struct {
	rows int64
	sum  string
}

// compare compares the copies with Postgres, if a comparison is due, and notes the ids in buckets
// that differ, so that they are copied again. The triggers' notes alone cannot show that either
// database was restored to an older state, or lost committed data.
func (m *Mirror) compare(ctx context.Context, conn driver.Conn) error {
	cluster, err := m.queries.Cluster(ctx)
	if err != nil {
		cluster = "" // not every user may read it; comparisons still run by time
	}
	due, err := m.queries.ComparisonDue(ctx, store.ComparisonDueParams{Seconds: compareEvery.Seconds(),
		Cluster: cluster, Copy: m.copy})
	if err != nil || !due {
		return wrap(err, "look whether copies are to be compared")
	}
	_, err = m.locked(ctx, compareTimeout, func(ctx context.Context, tx pgx.Tx) error {
		q := store.New(tx)
		for _, e := range entities() {
			err := clickhouse.EachShard(conn, func(shard driver.Conn) error { return m.compareEntity(ctx, q, shard, e) })
			if err != nil {
				return err
			}
		}
		return wrap(q.EndComparison(ctx, store.EndComparisonParams{Cluster: cluster, Copy: m.copy}),
			"note that copies are compared")
	})
	return err
}

// compareEntity notes the ids in buckets whose copies on a shard differ.
func (m *Mirror) compareEntity(ctx context.Context, q *store.Queries, conn driver.Conn, e entity) error {
	buckets, err := e.differing(ctx, m.pool, m.copy, conn)
	if err != nil || len(buckets) == 0 {
		return err
	}
	noted, err := e.noteBuckets(ctx, q, m.copy, conn, buckets)
	if err != nil {
		return err
	}
	m.differences.Add(float64(len(buckets)))
	m.log.Warn("tables in ClickHouse differ from Postgres and are copied again", "table", e.table, "buckets",
		len(buckets), "rows", noted)
	return nil
}

// differing returns the buckets whose copies differ from Postgres. Buckets with changes that are
// not copied yet are left to the next comparison. The transaction holds the mirror's lock, so that
// ClickHouse's copies do not change.
//
// A replica may sum up Postgres' rows: it has what was committed before, with the changes that are
// not copied yet.
func (e entity) differing(ctx context.Context, pool *postgres.Pool, number int32,
	conn driver.Conn) (buckets []string, err error) {
	var rows []store.EntityBucketsRow
	if err := pool.Snapshot(ctx, func(tx pgx.Tx) (err error) {
		rows, err = store.New(tx).EntityBuckets(ctx, store.EntityBucketsParams{Entity: e.table, Copy: number})
		return err
	}); err != nil {
		return nil, fmt.Errorf("sum up %s: %w", e.table, err)
	}
	is, err := e.copied(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if !r.Pending && is[r.Bucket] != (content{r.Entities, r.Sum}) {
			buckets = append(buckets, r.Bucket)
		}
		delete(is, r.Bucket)
	}
	for bucket := range is { // those without rows in Postgres
		buckets = append(buckets, bucket)
	}
	return buckets, nil
}

// copied returns the content of each bucket in ClickHouse.
func (e entity) copied(ctx context.Context, conn driver.Conn) (map[string]content, error) {
	rows, err := conn.Query(ctx,
		"SELECT right(toString(id), 3), toInt64(count()), toString(sum(reinterpretAsUInt64(reverse(substring(MD5("+
			e.clickhouseText()+"), 1, 5))))) FROM lodestone."+e.table+" FINAL WHERE deleted = 0 GROUP BY 1")
	if err != nil {
		return nil, fmt.Errorf("sum up copies of %s: %w", e.table, err)
	}
	is := map[string]content{}
	for rows.Next() {
		var bucket string
		var c content
		if err = rows.Scan(&bucket, &c.rows, &c.sum); err != nil {
			break
		}
		is[bucket] = c
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("sum up copies of %s: %w", e.table, err)
	}
	return is, nil
}

// noteBuckets notes every id of the buckets, of either side, and returns the number of notes.
func (e entity) noteBuckets(ctx context.Context, q *store.Queries, number int32, conn driver.Conn,
	buckets []string) (notes int64, err error) {
	notes, err = q.NoteBuckets(ctx, store.NoteBucketsParams{Copy: number, Entity: e.table, Buckets: buckets})
	if err != nil {
		return 0, fmt.Errorf("note %s to copy again: %w", e.table, err)
	}
	rows, err := conn.Query(ctx, "SELECT id FROM lodestone."+e.table+
		" FINAL WHERE deleted = 0 AND has({buckets:Array(String)}, right(toString(id), 3))",
		native.Named("buckets", "['"+strings.Join(buckets, "','")+"']"))
	if err != nil {
		return notes, fmt.Errorf("list copies of %s: %w", e.table, err)
	}
	var ids []uuid.UUID
	note := func() error {
		err := q.NoteEntities(ctx, store.NoteEntitiesParams{Copy: number, Entity: e.table, IDs: ids})
		notes += int64(len(ids))
		ids = ids[:0]
		return wrap(err, "note "+e.table+" to copy again")
	}
	for err == nil && rows.Next() {
		var id uuid.UUID
		if err = rows.Scan(&id); err != nil {
			break
		}
		if ids = append(ids, id); len(ids) == batchChanges {
			err = note()
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return notes, fmt.Errorf("list copies of %s: %w", e.table, err)
	}
	return notes, note()
}

// clickhouseText is an expression that formats the copied columns as the view copied_entities of
// Postgres does.
func (e entity) clickhouseText() string {
	var columns []string
	for column := range strings.SplitSeq(e.columns, ", ") {
		switch {
		case strings.HasSuffix(column, "_at"):
			column = "ifNull(toString(toUnixTimestamp64Milli(" + column + ")), '')"
		case isBool(column):
			column = "toString(toUInt8(" + column + "))"
		default:
			column = "ifNull(toString(" + column + "), '')"
		}
		columns = append(columns, column)
	}
	return "concat(" + strings.Join(columns, ", char(31), ") + ")"
}

func isBool(column string) bool {
	switch column {
	case "is_active", "active", "require_verification", "verification_required", "verified":
		return true
	}
	return false
}
