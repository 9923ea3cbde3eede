package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// mirrorRig is a database with a landing page, whose changes are copied when the test says so.
type mirrorRig struct {
	t             *testing.T
	pool          *postgres.Pool
	clock         *scope.SettledClock
	account, link uuid.UUID
}

func newMirrorRig(t *testing.T) *mirrorRig {
	t.Helper()
	pool := enginetest.MigratedPostgres(t)
	r := &mirrorRig{t: t, pool: pool, clock: scope.NewSettledClock(pool, querytest.Scoped(t)),
		account: querytest.ID(t), link: querytest.ID(t)}
	magnet := querytest.ID(t)
	r.exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", r.account)
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'test')", magnet, r.account)
	r.exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", r.link,
		r.account, magnet, r.link.String())
	r.copyAll()
	return r
}

func (r *mirrorRig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.pool.Unscoped().Exec(context.Background(), sql, args...)
	require.NoError(r.t, err, sql)
}

// copyAll does what the mirror does when ClickHouse has all copies.
func (r *mirrorRig) copyAll() { r.exec("DELETE FROM entity_changes") }

// begin returns a transaction that rolls back, at the latest, with the test.
func (r *mirrorRig) begin() pgx.Tx {
	r.t.Helper()
	tx, err := r.pool.Unscoped().Begin(context.Background())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // it may be over
	return tx
}

// time returns a time of Postgres.
func (r *mirrorRig) time(from interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, sql string, args ...any) (at time.Time) {
	r.t.Helper()
	require.NoError(r.t, from.QueryRow(context.Background(), sql, args...).Scan(&at))
	return at
}

func (r *mirrorRig) now() time.Time {
	return r.time(r.pool.Unscoped(), "SELECT clock_timestamp()")
}

func (r *mirrorRig) copied() time.Time {
	r.t.Helper()
	at, err := r.clock.Mirrored(r.t.Context(), 1)
	require.NoError(r.t, err)
	return at
}

const submit = `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at)
	VALUES ($1::uuid, $2, $3, $1::text || '@example.com', $1::text || '@example.com', `

// A submission is in answers from its own time on, however long its transaction takes and its copy
// is on the way.
func TestASubmissionHoldsTheTimeBack(t *testing.T) {
	t.Parallel()
	r := newMirrorRig(t)
	before := r.now()
	require.False(t, r.copied().Before(before), "nothing is on the way")

	// A transaction runs, and did not write yet; it is of the time at which it began.
	tx := r.begin()
	submitted := r.time(tx, "SELECT now()").Add(time.Millisecond) // the column is rounded
	require.False(t, r.copied().After(submitted))
	id := querytest.ID(t)
	_, err := tx.Exec(t.Context(), submit+"now())", id, r.account, r.link)
	require.NoError(t, err)
	require.False(t, r.copied().After(submitted))

	// A later submission that is committed and copied first does not hide it.
	r.exec(submit+"now())", querytest.ID(t), r.account, r.link)
	require.False(t, r.copied().After(submitted))
	r.copyAll()
	require.False(t, r.copied().After(submitted))

	require.NoError(t, tx.Commit(t.Context()))
	require.False(t, r.copied().After(submitted), "it is committed, and not copied")
	r.copyAll()
	require.True(t, r.copied().After(submitted))

	verified := r.now()
	r.exec("UPDATE submissions SET verified = true, verified_at = $2 WHERE id = $1", id, verified)
	require.False(t, r.copied().After(verified.Add(time.Millisecond)))
}

func TestALateCopyHoldsTheTimeBack(t *testing.T) {
	t.Parallel()
	r := newMirrorRig(t)
	at, err := r.clock.AsOf(t.Context())
	require.NoError(t, err)
	require.True(t, at.Before(r.now()))
	require.Equal(t, at, at.Truncate(time.Millisecond))

	r.exec(submit+"now())", querytest.ID(t), r.account, r.link)
	r.exec("UPDATE entity_changes SET changed_at = changed_at - interval '1 hour'")
	noted := r.time(r.pool.Unscoped(), "SELECT min(changed_at) FROM entity_changes")
	late, err := scope.NewSettledClock(r.pool, querytest.Scoped(t)).AsOf(t.Context())
	require.NoError(t, err)
	require.True(t, late.Before(noted), "the copy is an hour late")
	again, err := r.clock.AsOf(t.Context())
	require.NoError(t, err)
	require.True(t, again.Equal(at) || again.Before(noted), "an answer of a second ago is as true")
}

// Of many changes, the oldest are read.
func TestManyChangesHoldTheTimeBack(t *testing.T) {
	t.Parallel()
	r := newMirrorRig(t)
	r.exec("INSERT INTO entity_changes (copy, entity, id) SELECT 1, 'access_links', gen_random_uuid() FROM generate_series(1, 2000)")
	began := r.now()
	r.exec(submit+"clock_timestamp() - interval '30 seconds')", querytest.ID(t), r.account, r.link)
	require.True(t, r.copied().Before(began.Add(-30*time.Second)),
		"a submission among those that are not read waited before it was written")
}
