package clickhouse

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/config"
)

// AfterApply implements the hook of kong.
func (c *Config) AfterApply(f *config.Files) error {
	c.Secret = f.Secret(&c.URL, SameServer("--clickhouse-url", c.URL))
	return nil
}

// SameServer returns a check of a new address in a setting's file: everything but user and password needs a restart.
func SameServer(setting, address string) func(text string) error {
	return func(text string) error {
		was, err := url.Parse(address)
		if err != nil {
			return nil //nolint:nilerr // the process did not start with it
		}
		is, err := url.Parse(text)
		if err != nil || is.Host == "" { // the cause may repeat the password
			return config.Invalid(setting, "cannot be parsed", "write it like the one before")
		}
		if is.Scheme != was.Scheme || is.Host != was.Host || is.Path != was.Path {
			return config.Invalid(setting, "has another server or database than at the start", "change user and password only, or restart the process")
		}
		return nil
	}
}

var errAddress = errors.New("the address of ClickHouse cannot be parsed") // the cause may repeat the password

// authOf returns the user and the password of an address of the native protocol.
func authOf(address string) (user, password string, err error) {
	o, err := native.ParseDSN(address)
	if err != nil {
		return "", "", errAddress
	}
	return o.Auth.Username, o.Auth.Password, nil
}

// loginCodes are UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD and AUTHENTICATION_FAILED.
var loginCodes = []int32{192, 193, 194, 516}

// isLogin reports whether an error says that the server knows no such user, or that the password is wrong.
func isLogin(err error) bool {
	code, is := IsException(err)
	return is && slices.Contains(loginCodes, code)
}

// follow gives the connections of a pool the user and the password that the setting's file has when they are opened.
func (c Config) follow(o *native.Options) {
	if c.Secret == nil {
		return
	}
	o.DialStrategy = func(ctx context.Context, id int, options *native.Options, dial native.Dial) (r native.DialResult, err error) {
		err = c.Secret.Try(c.URL, isLogin, func(address string) error {
			with := *options
			var err error
			if with.Auth.Username, with.Auth.Password, err = authOf(address); err != nil {
				return err
			}
			r, err = native.DefaultDialStrategy(ctx, id, &with, dial)
			return err //nolint:wrapcheck // the library's own
		})
		return r, err
	}
}

// connect opens one connection with the user and the password that the setting's file has now.
func (c Config) connect(ctx context.Context, o ch.Options) (conn *ch.Client, err error) {
	if c.Secret == nil {
		return ch.Dial(ctx, o) //nolint:wrapcheck // the caller says where to
	}
	err = c.Secret.Try(c.URL, isLogin, func(address string) error {
		var err error
		if o.User, o.Password, err = authOf(address); err != nil {
			return err
		}
		conn, err = ch.Dial(ctx, o)
		return err //nolint:wrapcheck // the caller says where to
	})
	return conn, err
}

// HTTPLogin is the user and the password of requests over HTTP: those of their own address, else those of the native one.
type HTTPLogin struct {
	URL    string         // HTTP address
	Secret *config.Secret // its file, if it is in one
	Native Config         // of the same server; only its user and password are used
}

// Do calls fn with a user and a password, and again with those before a change if ClickHouse does not take them.
func (l HTTPLogin) Do(fn func(user, password string) error) error {
	if u, err := url.Parse(l.Secret.Value(l.URL)); err == nil && u.User == nil {
		return l.Native.Secret.Try(l.Native.URL, isLogin, func(address string) error {
			user, password, err := authOf(address)
			if err != nil {
				return err
			}
			return fn(user, password)
		})
	}
	return l.Secret.Try(l.URL, isLogin, func(address string) error {
		u, err := url.Parse(address)
		if err != nil || u.User == nil {
			return errAddress
		}
		password, _ := u.User.Password()
		return fn(u.User.Username(), password)
	})
}
