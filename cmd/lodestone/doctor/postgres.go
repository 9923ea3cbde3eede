package doctor

import (
	"context"
	"time"

	"lodestone/pkg/postgres"
)

const (
	oldestPostgres = 15
	minConns       = 20 // of Postgres that are free
)

// postgres examines the server and its replica.
func (e Engines) postgres(ctx context.Context, r *Report) {
	var pool *postgres.Pool
	var primary *postgres.Server // nil: it cannot be used, or does not answer
	if r.settings(e.Postgres) {
		c := e.Postgres
		c.MaxConns = 1
		var err error
		if pool, err = postgres.Open(ctx, c); err != nil {
			r.fail("postgres", "correct --postgres-url", "cannot be used: %v", err)
		} else {
			defer pool.Close()
			primary = r.primary(ctx, pool)
			e.sealed(ctx, r, pool, primary)
		}
	}
	if e.Reads.URL == "" || !r.settings(e.Reads) {
		return
	}
	replica, err := postgres.Open(ctx, postgres.Config{URL: e.Reads.URL, MaxConns: 1, Secret: e.Reads.Secret})
	if err != nil {
		r.fail("postgres", "correct --postgres-read-url", "the replica cannot be used: %v", err)
		return
	}
	defer replica.Close()
	r.replica(ctx, pool, replica, primary)
}

// primary reports on the server that everything is written to, and returns what it is if it answers.
func (r *Report) primary(ctx context.Context, pool *postgres.Pool) *postgres.Server {
	const area = "postgres"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	s, err := pool.Describe(ctx)
	if err != nil {
		r.fail(area, "start PostgreSQL, or correct --postgres-url: host, port, user, password and database", "does not answer: %v", err)
		return nil
	}
	r.clock(area, s.Now, asked, time.Now())
	if s.Number/10_000 < oldestPostgres {
		r.fail(area, "upgrade PostgreSQL to 15 or newer", "is version %s", s.Version)
	} else {
		r.ok(area, "is version %s", s.Version)
	}
	if s.Standby {
		r.fail(area, "give --postgres-url the primary; a replica belongs into --postgres-read-url", "is a standby, which takes no writes")
	}
	if !s.CreatesObjects {
		r.warn(area, "GRANT CREATE ON DATABASE … and ON SCHEMA public TO "+s.User+", or migrate as another user", "the user %s may not create tables: it cannot migrate", s.User)
	}
	if !s.IsAccount {
		r.fail(area, "GRANT lodestone_account TO "+s.User, "the user %s may not take the role lodestone_account: every request of an account fails", s.User)
	}
	if !s.SeesOthers {
		r.ok(area, "the user %s does not see the transactions of others, so all processes have to connect as %[1]s", s.User)
	}
	if s.FreeConns < minConns {
		r.warn(area, "raise max_connections, or lower --postgres-max-conns", "%d connections are free", s.FreeConns)
	}
	if s.CreatesObjects && s.IsAccount {
		r.ok(area, "the user %s has the rights that it needs", s.User)
	}
	pending, err := pool.Pending(ctx)
	r.schema(area, pending, err, pool.CheckSchema(ctx))
	return &s
}

// replica reports on the server that answers what reads much, compared with the primary, which is nil if it is not known.
func (r *Report) replica(ctx context.Context, pool, replica *postgres.Pool, primary *postgres.Server) {
	const area = "postgres"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	s, err := replica.Describe(ctx)
	if err != nil {
		r.fail(area, "start the replica, or correct --postgres-read-url: host, port, user, password and database", "the replica does not answer: %v", err)
		return
	}
	r.clock("the replica of postgres", s.Now, asked, time.Now())
	if !s.IsAccount {
		r.fail(area, "GRANT lodestone_account TO "+s.User+" on the primary", "the user %s of the replica may not take the role lodestone_account: exports fail", s.User)
	}
	if s.FreeConns < minConns {
		r.warn(area, "raise max_connections of the replica, or lower --postgres-max-conns", "%d connections of the replica are free", s.FreeConns)
	}
	if primary == nil || primary.Standby {
		return // it is reported
	}
	if s.Number != primary.Number {
		r.warn(area, "update the older of them", "the replica is version %s, and Postgres itself %s", s.Version, primary.Version)
	}
	applied, err := pool.Applied(ctx)
	if err != nil {
		return // it is reported
	}
	switch err := pool.CheckReplica(ctx, replica); {
	case postgres.IsBehind(err) && s.Replayed != nil:
		r.warn(area, catchUp, "the replica lags behind by more than a second, so Postgres itself answers; the newest transaction that it has is of %s", s.Replayed.UTC().Format(time.RFC3339))
		return
	case postgres.IsBehind(err):
		r.warn(area, catchUp, "the replica lags behind by more than a second, so Postgres itself answers")
		return
	case err != nil:
		r.fail(area, "correct --postgres-read-url, or leave it out: Postgres itself answers until then", "the replica is not used: %v", err)
		return
	}
	has, err := replica.Applied(ctx)
	if err != nil {
		r.fail(area, "grant the user of --postgres-read-url what that of --postgres-url may do, or use that one", "the replica does not show its migrations: %v", err)
		return
	}
	for version := range applied {
		if !has[version] {
			r.fail(area, "give --postgres-read-url the user and the options of --postgres-url", "the replica lacks migration %d", version)
			return
		}
	}
	r.ok(area, "the replica is version %s, and has everything that was committed", s.Version)
}

const catchUp = "look at the log of the replica, and at pg_stat_replication of Postgres: its network, its disk, or a long query holds it back"

// sealed tries the token keys on what the database has encrypted.
func (e Engines) sealed(ctx context.Context, r *Report, pool *postgres.Pool, primary *postgres.Server) {
	if e.Unopened == nil || primary == nil || pool.CheckSchema(ctx) != nil { // the schema is reported
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	switch none, total, err := e.Unopened(ctx, pool); {
	case err != nil:
		r.warn("secrets", "run lodestone token-keys", "the token keys cannot be tried: %v", err)
	case none > 0:
		r.fail("secrets", "give the keys that the data were made with: links, mails and webhooks cannot be read without them (lodestone token-keys counts them)",
			"no token key opens %d of %d secrets of the database", none, total)
	default:
		r.ok("secrets", "the token keys open the secrets of the database")
	}
}
