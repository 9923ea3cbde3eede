//go:build long

package postgres_test

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/postgres"
)

// reading is a pool with a replica, and what it logs.
type reading struct {
	*postgres.Pool
	*enginetest.Replicated
	registry *prometheus.Registry
	log      *enginetest.Log
}

func withReplica(t *testing.T, r *enginetest.Replicated, replica string) reading {
	t.Helper()
	pool := connect(t, r.Primary.URL())
	d := reading{Pool: pool, Replicated: r, registry: prometheus.NewRegistry(), log: &enginetest.Log{}}
	require.NoError(t, pool.AddReplica(t.Context(), postgres.ReadConfig{URL: replica}, 4, slog.New(slog.NewTextHandler(d.log, nil)), d.registry))
	d.WaitForReplica(enginetest.Timeout) // a busy machine takes its time
	return d
}

// titles lists the lead magnets of an account as a long read, and tells whether the replica answered.
func (d reading) titles(t *testing.T, account uuid.UUID) (titles []string, byReplica bool) {
	t.Helper()
	require.NoError(t, d.AccountScan(t.Context(), account, func(tx pgx.Tx) error {
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&byReplica))
		rows, err := tx.Query(t.Context(), "SELECT title FROM lead_magnets ORDER BY created_at, id")
		require.NoError(t, err)
		titles, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}))
	return titles, byReplica
}

func (d reading) rename(t *testing.T, account uuid.UUID, title string) {
	t.Helper()
	require.NoError(t, d.Account(t.Context(), account, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE lead_magnets SET title = $1", title)
		return err
	}))
}

func TestLongReadsGoToTheReplica(t *testing.T) {
	t.Parallel()
	r := enginetest.NewReplicated(t)
	d := withReplica(t, r, r.URL)
	migrate(t, d.Pool)
	account, other := populate(t, d.Pool), populate(t, d.Pool)

	// A read knows what was committed before it, however often both follow each other, and of its account only.
	for i := range 50 {
		title := string(rune('A' + i%26))
		d.rename(t, account, title)
		titles, byReplica := d.titles(t, account)
		require.Equal(t, []string{title}, titles)
		require.True(t, byReplica, d.log)
	}
	titles, _ := d.titles(t, other)
	require.Equal(t, []string{"M"}, titles)
	require.Error(t, d.AccountScan(t.Context(), account, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE lead_magnets SET title = 'x'")
		return err
	}))
	require.NoError(t, d.Scan(t.Context(), func(tx pgx.Tx) error {
		var accounts int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM accounts").Scan(&accounts))
		require.Equal(t, 2, accounts)
		return nil
	}))

	// A replica that lags behind is not asked, and no read waits for it again soon.
	d.Exec(t, true, "SELECT pg_wal_replay_pause()")
	d.WaitForReplica(time.Second)
	d.rename(t, account, "later")
	for range 3 {
		titles, byReplica := d.titles(t, account)
		require.Equal(t, []string{"later"}, titles)
		require.False(t, byReplica)
	}
	require.Contains(t, d.log.String(), "lags behind")
	require.InDelta(t, 3, reads(t, d.registry, "primary"), 0)

	// Another process finds that the replica has caught up.
	d.Exec(t, true, "SELECT pg_wal_replay_resume()")
	again := withReplica(t, r, r.URL)
	titles, byReplica := again.titles(t, account)
	require.Equal(t, []string{"later"}, titles)
	require.True(t, byReplica, again.log)

	// A replica that is away costs nothing but its work.
	d.StopReplica()
	away := withReplica(t, r, r.URL)
	titles, byReplica = away.titles(t, account)
	require.Equal(t, []string{"later"}, titles)
	require.False(t, byReplica)
	require.Contains(t, away.log.String(), "connect to the replica")
}

// A server that is no replica of this one is never asked: neither another database, nor one that was promoted, nor the primary itself.
func TestOnlyAReplicaAnswersLongReads(t *testing.T) {
	t.Parallel()
	r := enginetest.NewReplicated(t)
	migrate(t, connect(t, r.Primary.URL()))
	account := populate(t, connect(t, r.Primary.URL()))
	r.Exec(t, true, "SELECT pg_promote()")
	for name, address := range map[string]string{"promoted": r.URL, "primary": r.Primary.URL(), "other": enginetest.MigratedPostgresURL(t)} {
		d := withReplica(t, r, address)
		titles, byReplica := d.titles(t, account)
		require.Equal(t, []string{"M"}, titles, name)
		require.False(t, byReplica, name)
		require.Contains(t, d.log.String(), "no standby", name)
	}
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, postgres.ReadConfig{}.Validate())
	require.NoError(t, postgres.ReadConfig{URL: "postgres://u:p@h/d"}.Validate())
	err := postgres.ReadConfig{URL: "postgres://u:secret@h:port/d"}.Validate()
	require.ErrorContains(t, err, "--postgres-read-url")
	require.NotContains(t, err.Error(), "secret")
	pool := open(t)
	require.NoError(t, pool.AddReplica(t.Context(), postgres.ReadConfig{}, 1, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))
	require.NoError(t, pool.Scan(t.Context(), func(tx pgx.Tx) error { return tx.Conn().Ping(context.WithoutCancel(t.Context())) }))
}

// A replica's other databases are not asked either: the log of all is one.
func TestAnotherDatabaseOfTheReplicaIsNotAsked(t *testing.T) {
	t.Parallel()
	r := enginetest.NewReplicated(t)
	migrate(t, connect(t, r.Primary.URL()))
	account := populate(t, connect(t, r.Primary.URL()))
	other, err := url.Parse(r.URL)
	require.NoError(t, err)
	other.Path = "/postgres"
	d := withReplica(t, r, other.String())
	titles, byReplica := d.titles(t, account)
	require.Equal(t, []string{"M"}, titles)
	require.False(t, byReplica)
	require.Contains(t, d.log.String(), "it is another database")
}

// reads returns how many long reads a server answered.
func reads(t *testing.T, r *prometheus.Registry, server string) (n float64) {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "lodestone_postgres_reads_total" && m.GetLabel()[0].GetValue() == server {
				n = m.GetCounter().GetValue()
			}
		}
	}
	return n
}
