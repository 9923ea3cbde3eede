package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"lodestone/pkg/config"
)

// SameServer returns a check of a new URL in a setting's file: everything but user and password needs a restart, as pools, migrations and
// locks belong to a server.
func SameServer(setting, url string) func(text string) error {
	return func(text string) error {
		was, err := pgxpool.ParseConfig(url)
		if err != nil {
			return nil //nolint:nilerr // the process did not start with it
		}
		is, err := pgxpool.ParseConfig(text)
		if err != nil { // the cause may repeat the password
			return config.Invalid(setting, "cannot be parsed", "write postgres://user:password@host:port/database")
		}
		if is.ConnConfig.Host != was.ConnConfig.Host || is.ConnConfig.Port != was.ConnConfig.Port || is.ConnConfig.Database != was.ConnConfig.Database {
			return config.Invalid(setting, "has another server or database than at the start", "change user and password only, or restart the process")
		}
		return nil
	}
}

// login gives new connections the user and the password of a file, which may change.
type login struct {
	secret *config.Secret
	url    string // for a setting that is in no file
}

// choose sets user and password of a connection that is about to be opened. While a new password has not worked yet, it is tried first:
// Postgres may still have the one before.
func (l *login) choose(ctx context.Context, c *pgx.ConnConfig) error {
	text, err := l.secret.Choose(l.url, isLogin, func(text string) error {
		if err := setLogin(c, text); err != nil {
			return err
		}
		return try(ctx, c)
	})
	if err != nil {
		return err //nolint:wrapcheck // of a connection, classified by the caller
	}
	return setLogin(c, text)
}

// setLogin sets user and password of a connection to those of a URL.
func setLogin(c *pgx.ConnConfig, url string) error {
	fresh, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("the address of Postgres cannot be parsed") // its check has seen that it can; the cause may repeat the password
	}
	c.User, c.Password = fresh.User, fresh.Password
	return nil
}

func try(ctx context.Context, c *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, c.Copy())
	if err != nil {
		return err //nolint:wrapcheck // classified by the caller
	}
	_ = conn.Close(context.WithoutCancel(ctx)) // it has shown what it was opened for
	return nil
}

// isLogin reports whether an error says that Postgres knows no such user, or that the password is wrong.
func isLogin(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "28P01" || pg.Code == "28000")
}
