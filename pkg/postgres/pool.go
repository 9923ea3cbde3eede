// Package postgres opens Lodestone's Postgres database, keeps every account within its own rows,
// and holds the migrations of the schema that the parts share.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/IBM/pgxpoolprometheus"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"
	"github.com/prometheus/client_golang/prometheus"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"lodestone/pkg/config"
)

// Config is the setting of every process that uses Postgres.
type Config struct {
	URL      string `name:"postgres-url" placeholder:"URL" help:"Postgres to use, as postgres://user:password@host:port/database. Secret."`
	MaxConns int32  `name:"postgres-max-conns" default:"10" help:"Maximum number of connections from one process to Postgres."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.URL == "" {
		errs = append(errs, config.Invalid("--postgres-url", "is missing", "give the address of a PostgreSQL 15 or newer"))
	} else if _, err := c.parse(); err != nil {
		errs = append(errs, err)
	}
	if c.MaxConns < 1 || c.MaxConns > 1000 {
		errs = append(errs, config.Invalid("--postgres-max-conns", "is out of range", "give a number from 1 to 1000"))
	}
	return errors.Join(errs...)
}

func (c Config) parse() (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(c.URL)
	if cause := filesError(err); cause != "" {
		return nil, config.Invalid("--postgres-url", "has TLS settings that cannot be used: "+cause,
			"name readable files in PEM in its sslrootcert, sslcert and sslkey")
	}
	if err != nil {
		// The cause may repeat the password, so it is left out.
		return nil, config.Invalid("--postgres-url", "cannot be parsed", "write postgres://user:password@host:port/database")
	}
	return pc, nil
}

// Addresses returns the hosts that the URL names, with their ports; none if one of them is a socket
// in the file system. The error names the setting.
func (c Config) Addresses() ([]string, error) {
	pc, err := c.parse()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, h := range append([]*pgconn.FallbackConfig{{Host: pc.ConnConfig.Host, Port: pc.ConnConfig.Port}},
		pc.ConnConfig.Fallbacks...) {
		if filepath.IsAbs(h.Host) {
			return nil, nil
		}
		all = append(all, net.JoinHostPort(h.Host, strconv.Itoa(int(h.Port))))
	}
	return all, nil
}

// Pool is a pool of connections, safe for concurrent use. Close ends it.
type Pool struct {
	pool   *pgxpool.Pool
	pooled bool
}

// Open returns a pool without connecting: the first use does.
func Open(ctx context.Context, c Config) (*Pool, error) {
	pc, err := c.parse()
	if err != nil {
		return nil, err
	}
	pc.MaxConns = c.MaxConns
	pc.ConnConfig.ConnectTimeout = 5 * time.Second
	pc.ConnConfig.Tracer = queryTracer{}
	pc.ConnConfig.RuntimeParams["timezone"] = "UTC"
	pooled := isPooled(pc.ConnConfig)
	if !pooled {
		// A list's optional filters make one statement of very different cost: plan it for the
		// values at hand, which takes a fraction of a millisecond, and never for any values. A
		// pooler refuses the parameter, and a statement without a name is planned for its values
		// anyway.
		pc.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	}
	pc.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		// Without it, each id of a list is written as text, refused, and parsed again: most of the time
		// that counters took in Go.
		types := conn.TypeMap()
		types.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{pgxuuid.TryWrapUUIDEncodePlan},
			types.TryWrapEncodePlanFuncs...)
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open Postgres pool: %w", err)
	}
	return &Pool{pool: pool, pooled: pooled}, nil
}

// isPooled reports whether an address is that of a pooler such as PgBouncer: its parameter
// default_query_exec_mode then lets statements have no name. In transaction mode a pooler gives
// each transaction another connection, so nothing that belongs to a session may be used over it.
func isPooled(c *pgx.ConnConfig) bool {
	return c.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}

// IsPooled reports whether the URL says that a pooler stands before Postgres: LISTEN, locks of
// sessions and temporary tables do not work.
func (p *Pool) IsPooled() bool { return p.pooled }

// Watch adds the state of the connections to the metrics, with the name of the pool as a label.
func (p *Pool) Watch(r prometheus.Registerer, name string) {
	r.MustRegister(pgxpoolprometheus.NewCollector(p.pool, map[string]string{"pool": name}))
}

// Close waits until every connection is given back and closes them.
func (p *Pool) Close() { p.pool.Close() }

// Ping reports whether Postgres answers.
func (p *Pool) Ping(ctx context.Context) error {
	if err := p.pool.Ping(ctx); err != nil {
		return fmt.Errorf("ping Postgres: %w", explain(err))
	}
	return nil
}

// Account runs fn in a transaction that sees and writes the rows of one account only: it has the
// role lodestone_account, whose row-level security policies compare every row with the account.
// This is the only way from a request to the tables of accounts. The transaction commits when fn
// returns nil; fn's error is returned as it is.
//
// fn is called again, in a new transaction, when Postgres ended the one before because two of them
// waited for each other: links, their submissions and their counters are taken in different orders
// by those who delete, change and count them. So fn must set what it returns, and never add to it.
func (p *Pool) Account(ctx context.Context, account uuid.UUID, fn func(tx pgx.Tx) error) error {
	return retryDeadlocks(ctx, func() error { return scoped(ctx, txBeginner{p.pool}, account, pgx.TxOptions{}, fn) })
}

func retryDeadlocks(ctx context.Context, fn func() error) error {
	for try := 1; ; try++ {
		err := fn()
		if try == deadlockTries || !isDeadlock(err) || ctx.Err() != nil {
			return err
		}
	}
}

// deadlockTries bounds the tries of one transaction. Postgres takes a second to see a deadlock, and
// lets one of the two go on, so the next try meets fewer.
const deadlockTries = 5

func isDeadlock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "40P01"
}

// AccountSnapshot is Account for reading: all statements of the transaction see the same snapshot,
// so that a list and its total agree, and none can write.
func (p *Pool) AccountSnapshot(ctx context.Context, account uuid.UUID, fn func(tx pgx.Tx) error) error {
	return scoped(ctx, txBeginner{p.pool}, account, snapshot, fn)
}

// Snapshot is Transaction for reading: all statements see the same state, and none can write.
func (p *Pool) Snapshot(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, txBeginner{p.pool}, snapshot, fn)
}

// snapshot are the options of transactions that only read, and see one state.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

func scoped(ctx context.Context, from txBeginner, account uuid.UUID, options pgx.TxOptions,
	fn func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, from, options, func(tx pgx.Tx) error {
		if options.AccessMode != pgx.ReadOnly {
			if err := runFirst(ctx, tx); err != nil {
				return err
			}
		}
		scope := &pgx.Batch{}
		scope.Queue("SET LOCAL ROLE lodestone_account")
		scope.Queue("SELECT set_config('lodestone.account_id', $1, true)", account.String())
		if err := tx.SendBatch(ctx, scope).Close(); err != nil {
			return fmt.Errorf("scope transaction to account: %w", err)
		}
		if err := fn(tx); err != nil || options.AccessMode == pgx.ReadOnly {
			return err
		}
		return runLast(ctx, tx)
	})
}

// Transaction runs fn in a transaction that is not scoped to an account: for what belongs to the
// installation (looking up keys, salts, counters), never for what a request asked for.
func (p *Pool) Transaction(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, txBeginner{p.pool}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if err := runFirst(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// RetryTransaction is Transaction, but calls fn again, as Account does, when Postgres ended the
// transaction because of a deadlock.
func (p *Pool) RetryTransaction(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return retryDeadlocks(ctx, func() error { return p.Transaction(ctx, fn) })
}

type firstKey struct{}

// WithFirst returns a context under which every transaction that may write begins with fn, so that
// what fn writes commits with the transaction or not at all. It runs outside the account's scope;
// its error is that of the transaction.
func WithFirst(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) context.Context {
	return context.WithValue(ctx, firstKey{}, fn)
}

func runFirst(ctx context.Context, tx pgx.Tx) error {
	if fn, ok := ctx.Value(firstKey{}).(func(context.Context, pgx.Tx) error); ok {
		return fn(ctx, tx)
	}
	return nil
}

type lastKey struct{}

// WithLast returns a context under which every transaction of an account that may write ends with
// fn, within the account's scope: what fn writes commits with the transaction or not at all.
func WithLast(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) context.Context {
	return context.WithValue(ctx, lastKey{}, fn)
}

func runLast(ctx context.Context, tx pgx.Tx) error {
	if fn, ok := ctx.Value(lastKey{}).(func(context.Context, pgx.Tx) error); ok {
		return fn(ctx, tx)
	}
	return nil
}

// Unscoped returns the pool for single statements that belong to the installation.
func (p *Pool) Unscoped() *pgxpool.Pool { return p.pool }

// IsUniqueViolation reports whether an error is a refused duplicate under the constraint named.
func IsUniqueViolation(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == constraint
}

// IsForeignKeyViolation reports whether an error is a reference to, or from, a row that forbids it.
func IsForeignKeyViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23503"
}

// IsCheckViolation reports whether an error is a row that a CHECK constraint forbids.
func IsCheckViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23514"
}

// IsUnavailable reports whether an error says that Postgres cannot be reached, is going down, or
// had to give way to another transaction, so that the same call may go through later. It tells
// nothing about whether a commit took effect.
func IsUnavailable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && len(pg.Code) == 5 {
		switch pg.Code {
		case "40001", "40P01", "55P03", "25006": // serialisation, deadlock, lock not to be had, standby
			return true
		}
		switch pg.Code[:2] {
		case "08", "53", "57":
			return true
		}
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, puddle.ErrClosedPool)
}
