package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/pkg/certificate"
)

const (
	// AllDatabase has a Distributed table for each table whose rows are spread over the shards. A
	// server that is the only one has no such database.
	AllDatabase = "lodestone_all"
	// cluster is the name of all shards in the servers' setting remote_servers.
	cluster = "lodestone"
)

// spread are the tables whose rows are each on one shard. All others have the same rows on every
// shard, or are about the shard itself. The steps of the retention are each shard's own, and so are
// read beside the rows that they are about.
var spread = []string{"events", "link_views", "expired_views", "shard"}

var spreadTable = regexp.MustCompile(`\blodestone\.(events|link_views|expired_views|shard)\b`)

// Everywhere returns a statement that reads the rows of all shards, if there are several.
func (c Config) Everywhere(statement string) string {
	if c.Shards == "" {
		return statement
	}
	return OverShards(statement)
}

// OverShards returns a statement, or the name of a table with its database, that means the rows of
// all of several shards.
func OverShards(statement string) string {
	return spreadTable.ReplaceAllString(statement, AllDatabase+".$1")
}

// ReadDatabase is the database of statements that name none: with several shards, a table without
// its database is never that of one shard.
func (c Config) ReadDatabase() string {
	if c.Shards == "" {
		return Database
	}
	return AllDatabase
}

// ReadSettings are the settings under which statements read all shards, nil if there is one server.
func (c Config) ReadSettings() native.Settings {
	if c.Shards == "" {
		return nil
	}
	return native.Settings{
		"skip_unavailable_shards": 0, // a smaller answer would be a wrong one
		// A subquery of rows in a query of rows is asked of all shards first, and not of each shard for
		// itself.
		"distributed_product_mode": "global",
	}
}

// clusterConn reads all shards: any server asks the others. It refuses to write, since no statement
// writes to all of them at once.
type clusterConn struct {
	driver.Conn
	shards []shardConn
}

// shardConn is the connection to one shard.
type shardConn struct {
	driver.Conn
	address string
}

// id asks the server, each time: its address may lead to another one by now.
func (s shardConn) id() (id uint16, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), idTimeout)
	defer cancel()
	if err := s.QueryRow(ctx, "SELECT id FROM lodestone.shard").Scan(&id); err != nil {
		return 0, fmt.Errorf("ask ClickHouse at %s which shard it is: %w", s.address, err)
	}
	return id, nil
}

const idTimeout = 10 * time.Second

var errWrites = errors.New("write to ClickHouse: there are several shards, and the statement names none")

func (e *clusterConn) Select(ctx context.Context, dest any, query string, args ...any) error {
	return e.Conn.Select(ctx, dest, OverShards(query), args...)
}

func (e *clusterConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	return e.Conn.Query(ctx, OverShards(query), args...)
}

func (e *clusterConn) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	return e.Conn.QueryRow(ctx, OverShards(query), args...)
}

// Ping reports whether every shard answers.
func (e *clusterConn) Ping(ctx context.Context) error {
	return EachServer(e, func(server driver.Conn) error { return server.Ping(ctx) })
}

// Close closes all connections.
func (e *clusterConn) Close() error {
	err := e.Conn.Close()
	for _, shard := range e.shards {
		err = errors.Join(err, shard.Close())
	}
	return err
}

func (e *clusterConn) Exec(context.Context, string, ...any) error { return errWrites }

func (e *clusterConn) PrepareBatch(context.Context, string, ...driver.PrepareBatchOption) (driver.Batch, error) {
	return nil, errWrites
}

// EachShard calls fn with a connection to each shard alone, which also writes, and stops at an
// error. Of a topology of one shard that is the connection itself. Each server has shown the id of
// its shard: it is an error if two addresses lead to one shard.
func EachShard(conn driver.Conn, fn func(shard driver.Conn) error) error {
	e, several := conn.(*clusterConn)
	if !several {
		return fn(conn)
	}
	ids := shardIDs{}
	for _, shard := range e.shards {
		id, err := shard.id()
		if err != nil {
			return err
		}
		if err := ids.add(id); err != nil {
			return err
		}
		if err := fn(shard.Conn); err != nil {
			return err
		}
	}
	return nil
}

// EachServer is EachShard for servers that need not have an id yet.
func EachServer(conn driver.Conn, fn func(server driver.Conn) error) error {
	e, several := conn.(*clusterConn)
	if !several {
		return fn(conn)
	}
	for _, shard := range e.shards {
		if err := fn(shard.Conn); err != nil {
			return err
		}
	}
	return nil
}

// openEverywhere returns a pool that reads all of several shards.
func openEverywhere(c Config, servers []Config, maxConns int) (native.Conn, error) {
	o, err := servers[0].Options()
	if err != nil {
		return nil, err
	}
	o.Auth.Database = c.ReadDatabase()
	o.Addr, o.ConnOpenStrategy = nil, native.ConnOpenRoundRobin
	e := &clusterConn{}
	for _, server := range servers {
		one, err := server.Options()
		if err != nil {
			return nil, err
		}
		o.Addr = append(o.Addr, one.Addr...)
		conn, err := open(one, maxConns)
		if err != nil {
			return nil, err
		}
		e.shards = append(e.shards, shardConn{conn, one.Addr[0]})
	}
	settings := c.ReadSettings()
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	verifier := ch.Options{User: o.Auth.Username, Password: o.Auth.Password, ClientName: "lodestone",
		DialTimeout: dialTimeout, ReadTimeout: dialTimeout}
	secure := secureDialer(o)
	o.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		return c.dialCluster(ctx, address, verifier, secure, len(servers))
	}
	if e.Conn, err = open(o, maxConns); err != nil {
		return nil, err
	}
	return e, nil
}

const dialTimeout = 5 * time.Second

// dialCluster connects to a server that reads exactly the shards of the topology: what it has for a
// cluster is its own setting, with which answers could be smaller, or have rows twice.
func (c Config) dialCluster(ctx context.Context, address string, o ch.Options, secure *certificate.Dialer,
	shards int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var dialer ch.Dialer = &net.Dialer{}
	if secure != nil {
		dialer = secure
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("connect to ClickHouse: %w", err)
		}
		named := *secure
		named.ServerName, o.Dialer = host, &named
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to ClickHouse: %w", err)
	}
	o.Address = conn.RemoteAddr().String() // the same server, whatever its name leads to next time
	if err := c.checkCluster(ctx, o, shards); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkCluster asks a server for the ids of all shards of its cluster, and how many servers these
// have.
func (c Config) checkCluster(ctx context.Context, o ch.Options, shards int) error {
	conn, err := ch.Dial(ctx, o)
	if err != nil {
		return fmt.Errorf("connect to ClickHouse: %w", err)
	}
	var text proto.ColStr
	var rows, different, servers proto.ColUInt64
	err = conn.Do(ctx, ch.Query{
		Body: "SELECT toString(arraySort(groupArray(id))) AS ids, count() AS n, uniqExact(id) AS different, toUInt64(ifNull((SELECT count() FROM system.clusters WHERE cluster = '" + cluster + "'), 0)) AS servers FROM " + AllDatabase + ".shard",
		Result: proto.Results{{Name: "ids", Data: &text}, {Name: "n", Data: &rows}, {Name: "different", Data: &different},
			{Name: "servers", Data: &servers}},
	})
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("ask ClickHouse for the shards of its cluster %s: %w", cluster, err)
	}
	if rows.Row(0) != uint64(shards) || different.Row(0) != uint64(shards) {
		return fmt.Errorf("the cluster %s of ClickHouse at %s has the shards %s, and --clickhouse-shards has %d: make its remote_servers the same (docs/shards.md)",
			cluster, o.Address, text.Row(0), shards)
	}
	if servers.Row(0) != uint64(shards) { // what is read from another server of a shard could lack rows
		return fmt.Errorf("the cluster %s of ClickHouse at %s has %d servers for %d shards: give each shard one in its remote_servers (docs/shards.md)",
			cluster, o.Address, servers.Row(0), shards)
	}
	return nil
}
