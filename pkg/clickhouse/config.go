// Package clickhouse connects to Lodestone's ClickHouse and holds the migrations of its schema: database lodestone for
// internal tables, database analytics for the views that people query.
package clickhouse

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/config"
)

// Database is where Lodestone's own tables live.
const Database = "lodestone"

// Config holds the settings of every process that uses ClickHouse.
type Config struct {
	URL string `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to use, over its native protocol, as clickhouse://user:password@host:port/lodestone. Secret."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.URL == "" {
		return config.Invalid("--clickhouse-url", "is missing", "give the address of a ClickHouse 26.3 or newer")
	}
	_, err := c.Options()
	return err
}

// Options returns the settings as options of clickhouse-go.
func (c Config) Options() (*native.Options, error) {
	o, err := native.ParseDSN(c.URL)
	if err != nil || len(o.Addr) == 0 || o.Protocol != native.Native {
		// The cause may repeat the password, so it is left out.
		return nil, config.Invalid("--clickhouse-url", "cannot be parsed", "write clickhouse://user:password@host:port/lodestone")
	}
	if o.Auth.Database != Database {
		return nil, config.Invalid("--clickhouse-url", "names another database", "end it with /"+Database)
	}
	return o, nil
}

// Open returns a pool of connections, safe for concurrent use, without connecting: the first use does.
func Open(c Config, maxConns int) (native.Conn, error) {
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	o.MaxOpenConns, o.MaxIdleConns = maxConns, maxConns
	o.DialTimeout = 5 * time.Second
	o.ClientInfo.Products = append(o.ClientInfo.Products, struct{ Name, Version string }{"lodestone", "1"})
	conn, err := native.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse pool: %w", err)
	}
	return conn, nil
}

// BlockOptions returns the settings as options of ch-go, for columnar inserts.
func (c Config) BlockOptions() (ch.Options, error) {
	o, err := c.Options()
	if err != nil {
		return ch.Options{}, err
	}
	// As in ClickHouse's own client: on the same machine compression costs time and memory and saves nothing.
	compression := ch.CompressionLZ4
	if host, _, err := net.SplitHostPort(o.Addr[0]); err == nil && isLocal(host) {
		compression = ch.CompressionDisabled
	}
	return ch.Options{
		Address:     o.Addr[0],
		Database:    o.Auth.Database,
		User:        o.Auth.Username,
		Password:    o.Auth.Password,
		TLS:         o.TLS,
		ClientName:  "lodestone",
		DialTimeout: 5 * time.Second,
		Compression: compression,
	}, nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// IsException reports whether the error is an answer of ClickHouse itself, and its code.
func IsException(err error) (code int32, yes bool) {
	if fromNative, ok := errors.AsType[*native.Exception](err); ok {
		return fromNative.Code, true
	}
	if fromBlock, ok := errors.AsType[*ch.Exception](err); ok {
		return int32(fromBlock.Code), true
	}
	return 0, false
}
