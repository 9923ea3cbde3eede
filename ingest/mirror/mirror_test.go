package mirror_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/mirror"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

type rig struct {
	t       *testing.T
	store   clickhouse.Config
	conn    driver.Conn
	pool    *postgres.Pool
	account uuid.UUID
}

// newRig has ClickHouse to itself: a mirror looks whether tables there are empty.
func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, enginetest.EmptyClickHouse(t))
}

func newRigOn(t *testing.T, store clickhouse.Config) *rig {
	t.Helper()
	r := &rig{t: t, store: store, conn: enginetest.Open(t, store),
		pool: enginetest.MigratedPostgres(t), account: uuid.New()}
	r.exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'a', 'team')", r.account)
	return r
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.pool.Unscoped().Exec(r.t.Context(), sql, args...)
	require.NoError(r.t, err)
}

// start starts a mirror and returns what stops it.
func (r *rig) start(emails bool) (stop func()) {
	r.t.Helper()
	m := mirror.New(mirror.Config{Interval: 100 * time.Millisecond, Emails: emails},
		mirror.Deps{ClickHouse: r.store, Postgres: r.pool, Log: slog.New(slog.DiscardHandler),
			Registerer: prometheus.NewRegistry()})
	require.NoError(r.t, m.Start(r.t.Context()))
	stop = func() { require.NoError(r.t, m.Stop(context.Background())) }
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) await(want, sql string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		var s string
		return r.conn.QueryRow(r.t.Context(), sql).Scan(&s) == nil && s == want
	}, waitLimit, 20*time.Millisecond, "%s: not %s", sql, want)
}

// awaitSettled waits until the notes of what was copied are gone, which is shortly after ClickHouse
// shows the copies: a mirror that is stopped in between keeps its notes, and copies again.
func (r *rig) awaitSettled() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		var settled bool
		err := r.pool.Unscoped().QueryRow(r.t.Context(), "SELECT NOT EXISTS (SELECT FROM entity_changes)").Scan(&settled)
		return err == nil && settled
	}, waitLimit, 20*time.Millisecond)
}

const (
	magnets = "SELECT arrayStringConcat(arraySort(groupArray(concat(title, '/', toString(magnet_version), '/', toString(page_count)))), ' ') FROM analytics.lead_magnets"
	generic = "SELECT arrayStringConcat(arraySort(groupArray(concat(slug, '/', toString(submissions)))), ' ') FROM analytics.generic_links"
	access  = "SELECT arrayStringConcat(arraySort(groupArray(concat(toString(access_link_id), '/', ifNull(email, 'none'), '/', toString(is_active), '/', ifNull(toString(generic_link_id), 'none'), '/', source))), ' ') FROM analytics.access_links"
)

// Each copy of the events has a mirror of its own, with notes of its own of what it lacks.
func TestEveryCopyOfTheEventsIsMirrored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := *r
	other.store = enginetest.NewCopy(t, 2)
	other.conn = enginetest.Open(t, other.store)
	magnet := uuid.New()
	// before the copy is on record
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'one')", magnet, r.account)
	r.exec("SELECT add_copy(2)")
	r.start(false)
	stop := other.start(false)
	r.await("one/0/0", magnets)
	other.await("one/0/0", magnets)
	r.awaitSettled()
	stop()
	r.exec("UPDATE lead_magnets SET title = 'two' WHERE id = $1", magnet)
	r.await("two/0/0", magnets)
	other.await("one/0/0", magnets)
	other.start(false)
	other.await("two/0/0", magnets)
	r.awaitSettled()
}

func TestCopiesFollow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	magnet, link, personal := uuid.New(), uuid.New(), uuid.New()
	// As a request does it: under the account's role, which has no right to the notes themselves.
	require.NoError(t, r.pool.Account(t.Context(), r.account, func(tx pgx.Tx) error {
		for _, sql := range []string{
			fmt.Sprintf("INSERT INTO lead_magnets (id, account_id, title) VALUES ('%s', '%s', 'Guide')", magnet, r.account),
			fmt.Sprintf("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ('%s', '%s', '%s', 'one')",
				link, r.account, magnet),
			fmt.Sprintf("INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, email, email_key, token_hash, token_sealed, token_key, source) VALUES ('%s', '%s', '%s', '%s', 'Ada@example.com', 'ada@example.com', sha256('t'::bytea), '', 0, 'form')", personal, r.account, magnet, link),
		} {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return nil
	}))
	stop := r.start(false)
	r.await("Guide/0/0", magnets)
	r.await("one/0", generic)
	r.await(fmt.Sprintf("%s/none/true/%s/form", personal, link), access)

	r.exec("INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256) VALUES ($1, 1, $2, 'f', 'application/pdf', 1, 12, '')", magnet, r.account)
	r.exec("UPDATE lead_magnets SET title = 'Better', file_version = 1 WHERE id = $1", magnet)
	r.exec("UPDATE generic_links SET submission_count = 3 WHERE id = $1", link)
	r.await("Better/1/12", magnets)
	r.await("one/3", generic)

	// Counts of openings are not copied: they would keep the mirror busy for nothing.
	r.awaitSettled()
	stop()
	r.exec("UPDATE access_links SET opened_count = 9 WHERE id = $1", personal)
	var noted int
	require.NoError(t, r.pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM entity_changes").Scan(&noted))
	require.Zero(t, noted)

	// Deleted while no mirror ran, by a cascade among others.
	r.exec("DELETE FROM generic_links WHERE id = $1", link)
	r.start(false)
	r.await("", generic)
	r.await(fmt.Sprintf("%s/none/true/none/form", personal), access)
	r.exec("DELETE FROM access_links WHERE id = $1", personal)
	r.exec("DELETE FROM lead_magnets WHERE id = $1", magnet)
	r.await("", access)
	r.await("", magnets)
}

func TestAddressesComeAndGoWithTheSetting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	magnet, personal, link := uuid.New(), uuid.New(), uuid.New()
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')", magnet, r.account)
	r.exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, 'one')", link, r.account, magnet)
	r.exec(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, answers) VALUES ($1, $2, $3, 'Ada@example.com', 'ada@example.com', '{"company":"Acme \"É\""}')`, uuid.New(), r.account, link)
	const answers = "SELECT any(answers['company']) FROM analytics.submissions"
	r.exec("INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key) VALUES ($1, $2, $3, 'Ada@example.com', 'ada@example.com', sha256('t'::bytea), '', 0)", personal, r.account, magnet)
	stop := r.start(true)
	r.await(fmt.Sprintf("%s/Ada@example.com/true/none/api", personal), access)
	r.await(`Acme "É"`, answers)
	r.exec(`UPDATE submissions SET answers = '{"company":"Other"}'`)
	r.await("Other", answers)
	stop()
	r.start(false)
	r.await(fmt.Sprintf("%s/none/true/none/api", personal), access)
	r.await("", answers)
	// Not only hidden: no version on the disk has it.
	r.await("0", "SELECT toString(countIf(answers != '{}')) FROM lodestone.submissions")
	r.await("0", "SELECT toString(countIf(email IS NOT NULL)) FROM lodestone.access_links")
}

func TestAnEmptyClickHouseIsFilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')", uuid.New(), r.account)
	stop := r.start(false)
	r.await("Guide/0/0", magnets)
	stop()
	require.NoError(t, r.conn.Exec(t.Context(), "TRUNCATE TABLE lodestone.lead_magnets"))
	r.start(false)
	r.await("Guide/0/0", magnets)
}

// Two mirrors copy what many transactions change at once, and end with the last state.
func TestTheLastStateCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	magnet := uuid.New()
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, '0')", magnet, r.account)
	r.start(false)
	r.start(false)
	for i := range 200 {
		r.exec("UPDATE lead_magnets SET title = $2 WHERE id = $1", magnet, fmt.Sprint(i+1))
	}
	r.await("200/0/0", magnets)
	r.exec("UPDATE lead_magnets SET title = 'end' WHERE id = $1", magnet)
	r.await("end/0/0", magnets)
}

// Changes while ClickHouse is down are copied later.
func TestNothingIsForgottenWhileClickHouseIsAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewMigratedClickHouse(t, dir)
	stopClickHouse := enginetest.Run(t, server)
	store := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(t.Context(), store)
	require.NoError(t, err)
	r := newRigOn(t, store)
	metrics := prometheus.NewRegistry()
	m := mirror.New(mirror.Config{Interval: 100 * time.Millisecond}, mirror.Deps{ClickHouse: r.store, Postgres: r.pool,
		Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	enginetest.Run(t, m)
	magnet := uuid.New()
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'before')", magnet, r.account)
	r.await("before/0/0", magnets)
	stopClickHouse()
	r.exec("UPDATE lead_magnets SET title = 'meanwhile' WHERE id = $1", magnet)
	require.Eventually(t, func() bool {
		return value(t, metrics, "lodestone_mirror_errors_total") > 0 && value(t, metrics, "lodestone_mirror_lag_seconds") > 0
	}, waitLimit, 20*time.Millisecond, "whoever watches sees it")
	server = enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	require.Equal(t, r.store.URL, server.URL())
	r.await("meanwhile/0/0", magnets)
	require.Eventually(t, func() bool { return value(t, metrics, "lodestone_mirror_lag_seconds") == 0 },
		waitLimit, 20*time.Millisecond)
}

func value(t *testing.T, metrics *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return 0
}

// What changed is in ClickHouse within a minute: the longest wait for a look, and a copy of as
// long.
func TestIntervalLeavesHalfAMinuteForTheCopy(t *testing.T) {
	t.Parallel()
	for interval, fits := range map[time.Duration]bool{5 * time.Second: true, 30 * time.Second: true,
		30*time.Second + 1: false, time.Minute: false, 0: false} {
		err := mirror.Config{Interval: interval}.Validate()
		require.Equal(t, fits, err == nil, "%s: %v", interval, err)
	}
}

// Neither side need know that it was restored, and nothing is started again.
func TestCopiesFollowARestoredDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stored, changed, lost, back := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	for id, title := range map[uuid.UUID]string{stored: "stored", changed: "new", lost: "lost", back: "back"} {
		r.exec("INSERT INTO lead_magnets (id, account_id, title, description, is_active) VALUES ($1, $2, $3, 'ü – \"text\"', false)", id, r.account, title)
	}
	link := uuid.New()
	r.exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, 'one')", link, r.account,
		stored)
	for i, magnet := range []uuid.UUID{stored, lost} {
		r.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, email, email_key, token_hash, token_sealed, token_key, expires_at, max_views)
			VALUES ($1, $2, $3, $4, 'ada@example.com', 'ada@example.com', sha256($5::text::bytea), '', 0, now() + interval '1 hour', 3)`, uuid.New(), r.account, magnet, link, fmt.Sprint(i))
	}
	r.exec("INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES ($1, $2, $3, 'delivery', now())",
		uuid.New(), r.account, uuid.New())
	metrics := prometheus.NewRegistry()
	m := mirror.New(mirror.Config{Interval: 100 * time.Millisecond, Emails: true},
		mirror.Deps{ClickHouse: r.store, Postgres: r.pool, Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	enginetest.Run(t, m)
	titles := "SELECT arrayStringConcat(arraySort(groupArray(title)), ' ') FROM analytics.lead_magnets"
	addresses := "SELECT toString(count(email)) FROM analytics.access_links"
	suspects := "SELECT arrayStringConcat(groupArray(rule)) FROM analytics.suspects"
	r.await("back lost new stored", titles)
	r.await("2", addresses)
	r.await("delivery", suspects)
	r.exec("DELETE FROM lead_magnets WHERE id = $1", back)
	r.await("lost new stored", titles)
	r.awaitSettled()
	// dueAgain lets the time pass after which both are compared, and waits until they were.
	dueAgain := func() {
		t.Helper()
		r.exec("UPDATE copies SET compared_at = '-infinity'")
		require.Eventually(t, func() bool {
			var compared bool
			err := r.pool.Unscoped().QueryRow(t.Context(),
				"SELECT compared_at > '-infinity' AND NOT EXISTS (SELECT FROM entity_changes) FROM copies").Scan(&compared)
			return err == nil && compared
		}, waitLimit, 20*time.Millisecond)
	}
	dueAgain()
	require.Zero(t, value(t, metrics, "lodestone_mirror_differences_total"), "equal sides are found equal")

	// Postgres is set back: there are no notes of it.
	tx, err := r.pool.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	for _, sql := range []string{
		fmt.Sprintf("DELETE FROM access_links WHERE lead_magnet_id = '%s'", lost),
		fmt.Sprintf("DELETE FROM lead_magnets WHERE id = '%s'", lost),
		fmt.Sprintf("UPDATE lead_magnets SET title = 'old' WHERE id = '%s'", changed),
		fmt.Sprintf("INSERT INTO lead_magnets (id, account_id, title) VALUES ('%s', '%s', 'back')", back, r.account),
		"DELETE FROM entity_changes",        // the backup has no notes of what it lacks
		"UPDATE copies SET cluster = '1/1'", // and is of another cluster
	} {
		_, err := tx.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit(t.Context()))
	r.await("back old stored", titles)
	r.await("1", addresses)

	// ClickHouse is set back, to a time before the last changes.
	r.awaitSettled()
	for _, sql := range []string{
		"ALTER TABLE lodestone.lead_magnets DELETE WHERE title IN ('old', 'stored') SETTINGS mutations_sync = 2",
		"TRUNCATE TABLE lodestone.access_links", "TRUNCATE TABLE lodestone.generic_links",
		"TRUNCATE TABLE lodestone.suspects",
	} {
		require.NoError(t, r.conn.Exec(t.Context(), sql))
	}
	dueAgain()
	r.await("back old stored", titles)
	r.await("1", addresses)
	r.await("one/0", generic)
	r.await("delivery", suspects)
	r.exec("DELETE FROM accounts WHERE id = $1", r.account)
	r.await("", suspects)
	r.await("", titles)
}
