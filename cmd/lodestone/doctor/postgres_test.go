package doctor

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/postgres"
)

// The replica for reads is compared with the primary: it is one of it, of the same database, and has what was committed.
func TestReplicas(t *testing.T) {
	t.Parallel()
	d := enginetest.NewReplicated(t)
	e := Engines{Postgres: postgres.Config{URL: d.Primary.URL(), MaxConns: 4}, Reads: postgres.ReadConfig{URL: d.URL}}
	pool, err := postgres.Open(t.Context(), e.Postgres)
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, pool.WithMigrationLock(t.Context(), func(ctx context.Context) error {
		_, err := pool.Migrate(ctx)
		return err
	}))
	// What is not of Postgres is missing here.
	check := func(e Engines, fails int) *Report {
		t.Helper()
		var r Report
		e.postgres(t.Context(), &r)
		require.Equal(t, fails, r.Count(Fail), "%v", r.Findings)
		return &r
	}
	require.Eventually(t, func() bool { // it has caught up
		var r Report
		e.postgres(t.Context(), &r)
		return r.Count(Warn)+r.Count(Fail) == 0
	}, enginetest.Timeout, 100*time.Millisecond)
	r := check(e, 0)
	line(t, r, OK, "postgres: the replica is version")
	line(t, r, OK, "clock: the replica of postgres agrees")

	at := func(change func(u *url.URL)) Engines {
		u, err := url.Parse(d.URL)
		require.NoError(t, err)
		change(u)
		other := e
		other.Reads.URL = u.String()
		return other
	}
	f := line(t, check(at(func(u *url.URL) { u.Host = gone(t); u.User = url.UserPassword("u", "secret") }), 1), Fail, "the replica does not answer")
	require.Contains(t, f.Remedy, "--postgres-read-url")
	require.NotContains(t, f.Found, "secret")
	line(t, check(at(func(u *url.URL) { u.Path = "/postgres" }), 1), Fail, "the replica is not used: it is another database")
	e.Reads.URL = e.Postgres.URL
	line(t, check(e, 1), Fail, "the replica is not used: it is no standby of this Postgres")
	e.Reads.URL = enginetest.MigratedPostgresURL(t)
	line(t, check(e, 1), Fail, "the replica is not used: it is no standby of this Postgres")
	e.Reads.URL = "postgres://u:secret@h:port/d"
	f = line(t, check(e, 1), Fail, "settings: --postgres-read-url (LODESTONE_POSTGRES_READ_URL) cannot be parsed")
	require.NotContains(t, f.Found, "secret")

	// It is asked also if the primary is away, and a lag is a warning.
	e.Reads.URL = d.URL
	away := e
	away.Postgres.URL = "postgres://u@" + gone(t) + "/d"
	line(t, check(away, 1), OK, "clock: the replica of postgres agrees")
	d.Exec(t, true, "SELECT pg_wal_replay_pause()")
	d.Exec(t, false, "CREATE TABLE later ()")
	require.Contains(t, line(t, check(e, 0), Warn, "the replica lags behind by more than a second").Remedy, "pg_stat_replication")
	d.Exec(t, true, "SELECT pg_wal_replay_resume()")
}
