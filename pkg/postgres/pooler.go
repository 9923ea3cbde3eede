package postgres

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// route finds out, before a pool's first connection, whether a pooler such as PgBouncer stands between this process and
// Postgres. In transaction mode a pooler gives each transaction another connection of its own, so nothing that belongs
// to a session may be used over it.
type route struct {
	// explicitMode is true if the URL chooses how statements are sent.
	explicitMode bool
	// pooled is nil until a connection has shown it. Two connections may find out at the same time, so that neither waits
	// for an attempt of the other.
	pooled atomic.Pointer[bool]
}

// adapt prepares a connection that is about to be opened.
func (r *route) adapt(ctx context.Context, c *pgx.ConnConfig) error {
	pooled, err := r.find(ctx, c)
	if err != nil {
		return err
	}
	if !pooled {
		// A list's optional filters make one statement of very different cost: plan it for the values
		// at hand, which takes a fraction of a millisecond, and never for any values.
		c.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
		return nil
	}
	// Poolers refuse that parameter. They need no other one either: a statement without a name is parsed each time, so its
	// plan is always one for the values at hand. Poolers before PgBouncer 1.21 lose statements with a name.
	if !r.explicitMode {
		c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

func (r *route) find(ctx context.Context, c *pgx.ConnConfig) (bool, error) {
	if known := r.pooled.Load(); known != nil {
		return *known, nil
	}
	pooled, err := isPooled(ctx, c)
	if err != nil {
		return false, err
	}
	r.pooled.Store(&pooled)
	return pooled, nil
}

// isPooled compares the process that a new connection names for cancelling its statements with the one that runs them.
// A pooler names one of its own making, as it cannot know which of its connections to Postgres will run a statement.
func isPooled(ctx context.Context, c *pgx.ConnConfig) (_ bool, err error) {
	c = c.Copy()
	c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it has answered or failed
	var pid uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return false, fmt.Errorf("look for a pooler before Postgres: %w", err)
	}
	return pid != conn.PgConn().PID(), nil
}

// IsPooled reports whether a pooler such as PgBouncer stands before Postgres, so that a statement cannot rely on the session of the
// one before: LISTEN, session locks and temporary tables do not work. It connects if no connection was opened yet.
func (p *Pool) IsPooled(ctx context.Context) (bool, error) {
	c := p.pool.Config().ConnConfig
	if err := p.login.choose(ctx, c); err != nil {
		return false, err
	}
	return p.route.find(ctx, c)
}
