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

// txBeginner begins transactions on connections that are alive.
type txBeginner struct{ pool *pgxpool.Pool }

// BeginTx begins a transaction, like the pool's method, but discards connections that ended since
// they were last used, as all do when Postgres restarts: nothing was sent on them but BEGIN. The
// pool itself checks only connections that were idle for a second. BeginTx gives up after as many
// dead connections as the pool can hold.
func (l txBeginner) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	for ended := int32(0); ; ended++ {
		tx, err := l.pool.BeginTx(ctx, options)
		if err == nil || ended == l.pool.Stat().MaxConns() || ctx.Err() != nil || !isEnded(err) {
			return tx, explain(err)
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
