package clickhouse

import (
	"cmp"
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
	// AllDatabase has a Distributed table for each table whose rows are spread over the shards. A server that is the only one has no
	// such database.
	AllDatabase = "lodestone_all"
	// cluster is the name of all shards in the servers' setting remote_servers.
	cluster = "lodestone"
)

// spread are the tables whose rows are each on one shard. All others have the same rows on every shard, or are about the shard
// itself. The steps of the retention are each shard's own, and so are read beside the rows that they are about.
var spread = []string{"events", "link_views", "expired_views", "shard"}

var spreadTable = regexp.MustCompile(`\blodestone\.(events|link_views|expired_views|shard)\b`)

// Everywhere returns a statement that reads the rows of all shards, if there are several.
func (c Config) Everywhere(statement string) string {
	if c.Shards == "" {
		return statement
	}
	return OverShards(statement)
}

// OverShards returns a statement, or the name of a table with its database, that means the rows of all of several shards.
func OverShards(statement string) string {
	return spreadTable.ReplaceAllString(statement, AllDatabase+".$1")
}

// ReadDatabase is the database of statements that name none: with several shards, a table without its database is never that of
// one shard.
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
	settings := native.Settings{
		"skip_unavailable_shards": 0, // a smaller answer would be a wrong one
		// A subquery of rows in a query of rows is asked of all shards first, and not of each shard for itself.
		"distributed_product_mode": "global",
	}
	if lag := c.ReadLag(); lag > 0 {
		settings[maxDelay], settings[fallBack] = max(1, int64(lag.Seconds())), 0
	}
	return settings
}

// The settings by which ClickHouse reads no replica that lags more.
const (
	maxDelay = "max_replica_delay_for_distributed_queries"
	fallBack = "fallback_to_stale_replicas_for_distributed_queries"
)

// DefaultMaxLag is the lag of reads without a setting.
const DefaultMaxLag = 30 * time.Second

// ReadLag returns how much a replica that is read may lag, 0 if no shard has several.
func (c Config) ReadLag() time.Duration {
	if !c.Replicated() {
		return 0
	}
	return cmp.Or(c.MaxLag, DefaultMaxLag)
}

// everywhere reads all shards: any server asks the others. It refuses to write, since no statement writes to all of them at once.
type everywhere struct {
	driver.Conn
	shards  []*shardConn
	writers *writers // nil: of each shard, any replica is read
	size    int      // of all servers
}

var errWrites = errors.New("write to ClickHouse: there are several shards, and the statement names none")

func (e *everywhere) Select(ctx context.Context, dest any, query string, args ...any) error {
	query, check, err := e.rewrite(ctx, query)
	if err != nil {
		return err
	}
	return errors.Join(e.Conn.Select(ctx, dest, query, args...), check())
}

func (e *everywhere) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	query, check, err := e.rewrite(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := e.Conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return decidedRows{rows, check}, nil
}

func (e *everywhere) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	query, check, err := e.rewrite(ctx, query)
	if err != nil {
		return failedRow{err}
	}
	return decidedRow{e.Conn.QueryRow(ctx, query, args...), check}
}

// rewrite returns the statement that reads all shards, and what returns an error if a writer was replaced since.
func (e *everywhere) rewrite(ctx context.Context, query string) (all string, check func() error, err error) {
	if e.writers == nil || !spreadTable.MatchString(query) {
		return OverShards(query), func() error { return nil }, nil
	}
	return e.writers.rewrite(ctx, e.shards, query)
}

// Ping reports whether every shard answers.
func (e *everywhere) Ping(ctx context.Context) error {
	for _, shard := range e.shards {
		if err := shard.ping(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all connections.
func (e *everywhere) Close() error {
	err := e.Conn.Close()
	for _, shard := range e.shards {
		err = errors.Join(err, shard.close())
	}
	return err
}

func (e *everywhere) Exec(context.Context, string, ...any) error { return errWrites }

func (e *everywhere) PrepareBatch(context.Context, string, ...driver.PrepareBatchOption) (driver.Batch, error) {
	return nil, errWrites
}

// EachShard calls fn with a connection to each shard alone, which also writes, and stops at an error. Of a topology of one shard that
// is the connection itself. Of a shard with several replicas it is the writer, and the error says if the writer was replaced meanwhile. Each
// server has shown the id of its shard: it is an error if two addresses lead to one shard.
func EachShard(conn driver.Conn, fn func(shard driver.Conn) error) error {
	e, several := conn.(*everywhere)
	if !several {
		return fn(conn)
	}
	ids := shardIDs{}
	for _, shard := range e.shards {
		if err := shard.atWriter(ids, fn); err != nil {
			return err
		}
	}
	return nil
}

// EachServer is EachShard for each replica that answers. Of a shard, one has to.
func EachServer(ctx context.Context, conn driver.Conn, fn func(server driver.Conn) error) error {
	e, several := conn.(*everywhere)
	if !several {
		return fn(conn)
	}
	for _, shard := range e.shards {
		if err := shard.each(ctx, fn); err != nil {
			return err
		}
	}
	return nil
}

// EachReplica calls fn with a connection to every replica on record of each shard that has several, once that one has the rows and the changes of
// the tables that the others had at the call. It stops at an error. A replica that does not answer is one: what is to be done on all of them is not
// done then.
func EachReplica(ctx context.Context, conn driver.Conn, tables []string, fn func(replica driver.Conn) error) error {
	e, several := conn.(*everywhere)
	if !several {
		return nil
	}
	for _, shard := range e.shards {
		if err := shard.eachReplica(ctx, tables, fn); err != nil {
			return err
		}
	}
	return nil
}

// openEverywhere returns a pool that reads all of several shards, or of several replicas.
func openEverywhere(c Config, shards [][]Config, maxConns int) (native.Conn, error) {
	o, err := shards[0][0].Options()
	if err != nil {
		return nil, err
	}
	o.Auth.Database = c.ReadDatabase()
	o.Addr, o.ConnOpenStrategy = nil, native.ConnOpenRoundRobin
	e := &everywhere{}
	for _, replicas := range shards {
		shard := &shardConn{writers: c.Writers}
		for _, server := range replicas {
			one, err := server.Options()
			if err != nil {
				return nil, err
			}
			o.Addr = append(o.Addr, one.Addr...)
			if len(replicas) > 1 {
				one.Settings = quorum(one.Settings, len(replicas))
			}
			conn, err := open(one, maxConns)
			if err != nil {
				return nil, err
			}
			shard.replicas = append(shard.replicas, &replicaConn{Conn: conn, address: one.Addr[0]})
		}
		e.shards, e.size = append(e.shards, shard), e.size+len(replicas)
	}
	if e.size > len(shards) && c.MaxLag == 0 {
		e.writers = &writers{config: c, secure: shards[0][0].dialer(o) != nil}
	}
	settings := c.ReadSettings()
	if e.writers != nil { // which are read whatever they lack
		delete(settings, maxDelay)
		delete(settings, fallBack)
	}
	maps.Copy(settings, o.Settings)
	o.Settings = settings
	verifier := ch.Options{User: o.Auth.Username, Password: o.Auth.Password, ClientName: "lodestone", DialTimeout: dialTimeout, ReadTimeout: dialTimeout}
	secure := shards[0][0].dialer(o)
	o.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		return c.dialCluster(ctx, address, verifier, secure, len(shards), e.size)
	}
	if e.Conn, err = open(o, maxConns); err != nil {
		return nil, err
	}
	return e, nil
}

const dialTimeout = 5 * time.Second

// dialCluster connects to a server that reads exactly the shards of the topology: what it has for a cluster is its own setting, with
// which answers could be smaller, or have rows twice.
func (c Config) dialCluster(ctx context.Context, address string, o ch.Options, secure *certificate.Dialer, shards, servers int) (net.Conn, error) {
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
	if err := c.checkCluster(ctx, o, shards, servers); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// checkCluster asks a server for the ids of all shards of its cluster, and how many replicas these have.
func (c Config) checkCluster(ctx context.Context, o ch.Options, shards, servers int) error {
	conn, err := c.connect(ctx, o)
	if err != nil {
		return fmt.Errorf("connect to ClickHouse: %w", err)
	}
	var text proto.ColStr
	var rows, different, replicas proto.ColUInt64
	err = conn.Do(ctx, ch.Query{
		Body:   "SELECT toString(arraySort(groupArray(id))) AS ids, count() AS n, uniqExact(id) AS different, toUInt64(ifNull((SELECT count() FROM system.clusters WHERE cluster = '" + cluster + "'), 0)) AS replicas FROM " + AllDatabase + ".shard",
		Result: proto.Results{{Name: "ids", Data: &text}, {Name: "n", Data: &rows}, {Name: "different", Data: &different}, {Name: "replicas", Data: &replicas}},
	})
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("ask ClickHouse for the shards of its cluster %s: %w", cluster, err)
	}
	if rows.Row(0) != uint64(shards) || different.Row(0) != uint64(shards) {
		return fmt.Errorf("the cluster %s of ClickHouse at %s has the shards %s, and --clickhouse-shards has %d: make its remote_servers the same (docs/shards.md)",
			cluster, o.Address, text.Row(0), shards)
	}
	if replicas.Row(0) != uint64(servers) {
		return fmt.Errorf("the cluster %s of ClickHouse at %s has %d servers, and --clickhouse-shards has %d: make its remote_servers the same (docs/replicas.md)",
			cluster, o.Address, replicas.Row(0), servers)
	}
	return nil
}
