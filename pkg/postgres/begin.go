package postgres

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// living begins transactions on connections that are alive.
type living struct{ pool *pgxpool.Pool }

// BeginTx is that of the pool, except that connections which ended since they were used last, as all do
// when Postgres restarts, are thrown away one after the other: nothing was asked on them but to begin. The
// pool itself looks only at those that nobody used for a second. It gives up when there were more than the pool can have.
func (l living) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	for ended := int32(0); ; ended++ {
		tx, err := l.pool.BeginTx(ctx, options)
		if err == nil || ended == l.pool.Stat().MaxConns() || ctx.Err() != nil || !isEnded(err) {
			return tx, err
		}
	}
}

// isEnded reports whether an error says that an open connection turned out to have ended.
func isEnded(err error) bool {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting || pgconn.Timeout(err) {
		return false
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "57P01" || pg.Code == "57P02" || pg.Code == "57P05" // shutdown, crash, idle for too long
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		pgconn.SafeToRetry(err)
}
