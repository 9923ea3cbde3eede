package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/config"
)

// ReadConfig is the setting of processes that read much.
type ReadConfig struct {
	URL string `name:"postgres-read-url" placeholder:"URL" help:"Replica of Postgres for what reads much: exports, and the checks of counters and copies. It answers once it has everything that was committed before. If that takes longer than a second, Postgres itself answers. Default: Postgres itself. Secret."`
	// Secret is the URL's file, if it is in one: new connections take user and password from it.
	Secret *config.Secret `kong:"-"`
}

// AfterApply implements the hook of kong.
func (c *ReadConfig) AfterApply(f *config.Files) error {
	c.Secret = f.Secret(&c.URL, SameServer("--postgres-read-url", c.URL))
	return nil
}

// Validate returns every problem of the setting.
func (c ReadConfig) Validate() error {
	if c.URL == "" {
		return nil
	}
	if _, err := pgxpool.ParseConfig(c.URL); err != nil {
		// The cause may repeat the password, so it is left out.
		return config.Invalid("--postgres-read-url", "cannot be parsed", "write postgres://user:password@host:port/database")
	}
	return nil
}

const (
	// maxReplicaWait bounds the time that a read waits for the replica to catch up, or to answer.
	maxReplicaWait = time.Second
	// replicaPause is how long reads go to the primary after the replica was behind or away, without waiting for it.
	replicaPause = 10 * time.Second
)

// replica is a standby of the primary that answers what reads much.
type replica struct {
	pool *Pool
	log  *slog.Logger
	wait time.Duration // maxReplicaWait, but for tests
	// pausedUntil is a time in nanoseconds.
	pausedUntil atomic.Int64
	reads       *prometheus.CounterVec
}

// Who answered a read.
const (
	byReplica = "replica"
	byPrimary = "primary"
)

// AddReplica opens a replica, to which Scan and AccountScan then go. Close closes it with the pool. It is called before the pool is
// shared. Without an address it does nothing.
func (p *Pool) AddReplica(ctx context.Context, c ReadConfig, maxConns int32, log *slog.Logger, r prometheus.Registerer) error {
	if c.URL == "" {
		return nil
	}
	pool, err := Open(ctx, Config{URL: c.URL, MaxConns: maxConns, Secret: c.Secret})
	if err != nil {
		return err
	}
	p.replica = &replica{pool: pool, log: log, wait: maxReplicaWait, reads: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_postgres_reads_total", Help: "Reads that a replica may answer, by who answered: replica, or primary because the replica was behind or away.",
	}, []string{"server"})}
	p.replica.reads.WithLabelValues(byReplica)
	p.replica.reads.WithLabelValues(byPrimary)
	r.MustRegister(p.replica.reads)
	pool.Watch(r, "replica")
	return nil
}

// AccountScan is AccountSnapshot for what reads much: exports, long lists. A replica may answer, if there is one. It knows
// everything that was committed before the call, so the caller notices no difference.
func (p *Pool) AccountScan(ctx context.Context, account uuid.UUID, fn func(tx pgx.Tx) error) error {
	return p.scan(ctx, func(from beginner) error { return scoped(ctx, from, account, snapshot, fn) })
}

// Scan runs fn in a transaction of the installation that only reads, and reads much. A replica may answer, as for AccountScan.
func (p *Pool) Scan(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return p.scan(ctx, func(from beginner) error { return pgx.BeginTxFunc(ctx, from, snapshot, fn) })
}

func (p *Pool) scan(ctx context.Context, run func(from beginner) error) error {
	if p.replica == nil {
		return run(living{p.pool})
	}
	conn := p.caughtUp(ctx)
	if conn == nil {
		p.replica.reads.WithLabelValues(byPrimary).Inc()
		return run(living{p.pool})
	}
	defer conn.Release()
	p.replica.reads.WithLabelValues(byReplica).Inc()
	return run(conn)
}

// caughtUp returns a connection to the replica, which has everything that the primary had committed when caughtUp was called; or nil.
func (p *Pool) caughtUp(ctx context.Context) *pgxpool.Conn {
	r := p.replica
	if time.Now().UnixNano() < r.pausedUntil.Load() {
		return nil
	}
	// The primary's position is taken first: every commit before this call lies before it, as commits wait until they are
	// flushed (unless synchronous_commit is off).
	at, err := p.position(ctx)
	if err != nil {
		return nil // the read itself tells what is wrong with the primary
	}
	limited, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	conn, err := r.await(limited, at)
	if err == nil {
		return conn
	}
	if ctx.Err() == nil {
		r.log.Warn("the replica of Postgres is not used for a while", "error", err, "retry_in", replicaPause)
		r.pausedUntil.Store(time.Now().Add(replicaPause).UnixNano())
	}
	return nil
}

// CheckReplica returns why a replica would not be used now for what reads much of this Postgres; nil: it would. IsBehind tells
// whether that is for a time only.
func (p *Pool) CheckReplica(ctx context.Context, other *Pool) error {
	at, err := p.position(ctx)
	if err != nil {
		return fmt.Errorf("ask Postgres for its position: %w", err)
	}
	return at.await(ctx, other.pool, maxReplicaWait)
}

// IsBehind reports whether an error of CheckReplica says that the replica lags behind.
func IsBehind(err error) bool { return errors.Is(err, errBehind) }

var (
	errNoStandby = errors.New("it is no standby of this Postgres: give --postgres-read-url the address of one")
	errDatabase  = errors.New("it is another database: give --postgres-read-url the database of --postgres-url")
	errBehind    = errors.New("it lags behind by more than a second")
)

// position is how far the log of a database was.
type position struct{ cluster, database, lsn string }

func (p *Pool) position(ctx context.Context) (at position, err error) {
	err = p.pool.QueryRow(ctx, "SELECT s.system_identifier::text, current_database(), pg_current_wal_flush_lsn()::text FROM pg_control_system() s").
		Scan(&at.cluster, &at.database, &at.lsn)
	return at, err //nolint:wrapcheck // by the callers
}

// asker is a pool, or one of its connections.
type asker interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// reached reports whether a standby has replayed the primary's log up to a position.
func (at position) reached(ctx context.Context, server asker) (reached bool, err error) {
	var standby, same bool
	err = server.QueryRow(ctx, `SELECT pg_is_in_recovery() AND s.system_identifier::text = $1, current_database() = $2, coalesce(pg_last_wal_replay_lsn() >= $3::text::pg_lsn, false)
		FROM pg_control_system() s`, at.cluster, at.database, at.lsn).Scan(&standby, &same, &reached)
	switch {
	case err != nil:
		return false, fmt.Errorf("ask the replica for its position: %w", err)
	case !standby:
		return false, errNoStandby
	case !same:
		return false, errDatabase
	default:
		return reached, nil
	}
}

// await returns a connection once the server behind it has replayed the primary's log up to a position.
func (r *replica) await(ctx context.Context, at position) (*pgxpool.Conn, error) {
	conn, err := r.pool.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the replica: %w", err)
	}
	err = at.await(ctx, conn, r.wait)
	if err == nil {
		return conn, nil
	}
	conn.Release()
	if ctx.Err() != nil {
		return nil, errBehind
	}
	return nil, err
}

// await returns once a standby has replayed the primary's log up to the position, or errBehind after a time.
func (at position) await(ctx context.Context, server asker, wait time.Duration) error {
	began := time.Now()
	for pause := 2 * time.Millisecond; ; pause *= 2 {
		reached, err := at.reached(ctx, server)
		if reached || err != nil {
			return err
		}
		if time.Since(began) > wait {
			return errBehind
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errBehind
		}
	}
}
