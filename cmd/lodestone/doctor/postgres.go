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

// postgres examines the server.
func (e Engines) postgres(ctx context.Context, r *Report) {
	if !r.settings(e.Postgres) {
		return
	}
	c := e.Postgres
	c.MaxConns = 1
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		r.fail("postgres", "correct --postgres-url", "cannot be used: %v", err)
		return
	}
	defer pool.Close()
	if r.postgres(ctx, pool) {
		e.sealed(ctx, r, pool)
	}
}

// postgres reports on the server, and whether it answers.
func (r *Report) postgres(ctx context.Context, pool *postgres.Pool) bool {
	const area = "postgres"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	s, err := pool.Describe(ctx)
	if err != nil {
		r.fail(area, "start PostgreSQL, or correct --postgres-url: host, port, user, password and database", "does not answer: %v", err)
		return false
	}
	r.clock(area, s.Now, asked, time.Now())
	if s.Number/10_000 < oldestPostgres {
		r.fail(area, "upgrade PostgreSQL to 15 or newer", "is version %s", s.Version)
	} else {
		r.ok(area, "is version %s", s.Version)
	}
	if s.Standby {
		r.fail(area, "give --postgres-url the address of the primary", "is a standby, which takes no writes")
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
	return true
}

// sealed tries the token keys on what the database has encrypted.
func (e Engines) sealed(ctx context.Context, r *Report, pool *postgres.Pool) {
	if e.Unopened == nil || pool.CheckSchema(ctx) != nil { // the schema is reported
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
