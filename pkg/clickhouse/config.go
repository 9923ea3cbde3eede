// Package clickhouse connects to Lodestone's ClickHouse and holds the migrations of its schema:
// database lodestone for internal tables, database analytics for the views that people query.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Database is where Lodestone's own tables live.
const Database = "lodestone"

// Config holds the settings of every process that uses ClickHouse.
type Config struct {
	URL string `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to use, over its native protocol, as clickhouse://user:password@host:port/lodestone. Secret."`
	// Shards has the addresses of a topology of several servers; "": the server of URL is all of it.
	Shards string `name:"clickhouse-shards" placeholder:"HOST:PORT;…" help:"Addresses of all ClickHouse servers, if there are several: one for each shard, with semicolons between them. User, password, TLS and settings are those of the ClickHouse URL, whose address must be one of them. The order does not matter: docs/shards.md."`
	// Copy is the number of the copy of the events that the servers have; 0 is 1 (Number).
	Copy int32 `name:"clickhouse-copy" default:"1" help:"Number of the copy of the events on these servers. An installation can have several copies: docs/copies.md."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.URL == "" {
		return config.Invalid("--clickhouse-url", "is missing", "give the address of a ClickHouse 26.3 or newer")
	}
	if c.Copy < 0 || c.Copy > maxCopy {
		return config.Invalid(copySetting, "is out of range", "give a number from 1 to 65")
	}
	_, err := c.Servers()
	return err
}

// Options returns the settings of the only server, or of the one that --clickhouse-url names, as
// options of clickhouse-go.
func (c Config) Options() (*native.Options, error) {
	o, err := native.ParseDSN(c.URL)
	if err != nil || len(o.Addr) == 0 || o.Protocol != native.Native {
		// The cause may repeat the password, so it is left out.
		return nil, config.Invalid("--clickhouse-url", "cannot be parsed",
			"write clickhouse://user:password@host:port/lodestone")
	}
	if o.Auth.Database != Database {
		return nil, config.Invalid("--clickhouse-url", "names another database", "end it with /"+Database)
	}
	if d := secureDialer(o); d != nil {
		o.DialContext = func(ctx context.Context, address string) (net.Conn,
			error) {
			return d.DialContext(ctx, "tcp", address)
		}
	}
	return o, nil
}

// secureDialer returns what connects over TLS, if the URL has secure=true, or nil.
func secureDialer(o *native.Options) *certificate.Dialer {
	if o.TLS == nil {
		return nil
	}
	return &certificate.Dialer{SkipVerify: o.TLS.InsecureSkipVerify}
}

// Open returns a pool of connections, safe for concurrent use, without connecting: the first use
// does. Of several shards, queries read all (see everywhere); what writes goes through EachShard.
func Open(c Config, maxConns int) (native.Conn, error) {
	servers, err := c.Servers()
	if err != nil {
		return nil, err
	}
	if len(servers) > 1 {
		return openEverywhere(c, servers, maxConns)
	}
	o, err := servers[0].Options()
	if err != nil {
		return nil, err
	}
	return open(o, maxConns)
}

func open(o *native.Options, maxConns int) (native.Conn, error) {
	o.MaxOpenConns, o.MaxIdleConns = maxConns, maxConns
	o.DialTimeout = dialTimeout
	o.ClientInfo.Products = append(o.ClientInfo.Products, struct{ Name, Version string }{"lodestone", "1"})
	conn, err := native.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse pool: %w", err)
	}
	return conn, nil
}

// BlockOptions returns the settings of the only server as options of ch-go, for columnar inserts.
// Those of a shard are returned by Topology.Options.
func (c Config) BlockOptions() (ch.Options, error) {
	if c.Shards != "" {
		return ch.Options{}, errors.New("connect to ClickHouse: there are several shards")
	}
	o, err := c.Options()
	if err != nil {
		return ch.Options{}, err
	}
	// As in ClickHouse's own client: on the same machine compression costs time and memory and saves
	// nothing.
	compression := ch.CompressionLZ4
	if host, _, err := net.SplitHostPort(o.Addr[0]); err == nil && isLocal(host) {
		compression = ch.CompressionDisabled
	}
	block := ch.Options{
		Address:     o.Addr[0],
		Database:    o.Auth.Database,
		User:        o.Auth.Username,
		Password:    o.Auth.Password,
		ClientName:  "lodestone",
		DialTimeout: dialTimeout,
		Compression: compression,
	}
	if d := secureDialer(o); d != nil {
		block.Dialer = d
	}
	return block, nil
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
