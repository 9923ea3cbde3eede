package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/ClickHouse/ch-go"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
)

// Cluster is the record of an installation, and the servers that it is about. It is safe for concurrent use.
type Cluster struct {
	*Ledger
	Topology *clickhouse.Topology
	Log      *slog.Logger
}

// ClusterDeps is what a Cluster works with; all of it is required.
type ClusterDeps struct {
	Postgres *postgres.Pool
	Log      *slog.Logger
}

// NewCluster returns the servers of the settings with what Postgres has on record of them. It does not connect.
func NewCluster(c clickhouse.Config, d ClusterDeps) (*Cluster, error) {
	topology, err := clickhouse.NewTopology(c)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the setting
	}
	return &Cluster{Ledger: NewLedger(d.Postgres), Topology: topology, Log: d.Log}, nil
}

// Storage is where the rows of a partition are: a stream.Store for one server, or a Store.
type Storage interface {
	EndInserts(ctx context.Context) error
	Insert(ctx context.Context, by *stream.Connection, rows stream.Table, token string) error
	Reader
	Close()
}

// Has reports whether a shard has a record, and so is stored to by a Store.
func (c *Cluster) Has(ctx context.Context, shard uint16) (bool, error) {
	_, err := c.Read(ctx, shard)
	if errors.Is(err, ErrNoRecord) {
		return false, nil
	}
	return err == nil, err
}

// Connect returns a connection of its own to a replica.
func (c *Cluster) Connect(shard uint16, name string) *stream.Connection {
	return &stream.Connection{Dial: c.Topology.ReplicaDialer(clickhouse.Member{Shard: shard, Replica: name}), Log: c.Log}
}

// Rows returns the Store of a partition whose shard has a record. Its connections are those that connect returns, and in all else it is as
// the one given.
func (c *Cluster) Rows(shard uint16, like *stream.Store, connect func(name string) *stream.Connection) *Store {
	return &Store{
		Shard: shard, Register: c.Ledger, Tables: like.Stream.Tables,
		Open: func(name string) Rows {
			of := *like
			of.Connection = *connect(name)
			return NewRows(name, &of)
		},
	}
}

// server returns a replica, asked over a connection of its own.
func (c *Cluster) server(shard uint16, name string) *Conn {
	return NewConn(name, *c.Connect(shard, name))
}

// Mover returns the mover of a shard, with its replicas of the record and others. Close closes its connections.
func (c *Cluster) Mover(ctx context.Context, shard uint16, others ...string) (m *Mover, closeAll func(), err error) {
	r, err := c.Read(ctx, shard)
	if err != nil {
		return nil, nil, err
	}
	m = &Mover{Shard: shard, Register: c.Ledger}
	var conns []*Conn
	for _, name := range append(others, r.Replicas...) {
		if !slices.ContainsFunc(m.Servers, func(s Server) bool { return s.Name() == name }) {
			conn := c.server(shard, name)
			conns, m.Servers = append(conns, conn), append(m.Servers, conn)
		}
	}
	return m, func() {
		for _, conn := range conns {
			conn.Close()
		}
	}, nil
}

// Enrol records the replicas of the shards that have several, after a migration. The first that answers begins as the writer of a shard
// that has no record, once it has fetched every part; the others are counted when they have every part as well.
func (c *Cluster) Enrol(ctx context.Context) error {
	names := map[uint16][]string{}
	err := c.Topology.Each(ctx, func(m clickhouse.Member, _ *ch.Client) error {
		if m.Replica != "" {
			names[m.Shard] = append(names[m.Shard], m.Replica)
		}
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // it names the server
	}
	for shard, replicas := range names {
		if err := c.enrolShard(ctx, shard, replicas); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) enrolShard(ctx context.Context, shard uint16, replicas []string) error {
	has, err := c.Has(ctx, shard)
	if err != nil {
		return err
	}
	if !has {
		first := c.server(shard, replicas[0])
		defer first.Close()
		epoch, err := first.Accept(ctx, 1) // later epochs are over on servers that had a record before, as after a restore
		if err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		if err := first.Sync(ctx); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
		if err := c.Begin(ctx, shard, replicas[0], epoch); err != nil {
			return err
		}
	}
	m, closeAll, err := c.Mover(ctx, shard, replicas...)
	if err != nil {
		return err
	}
	defer closeAll()
	for _, name := range replicas {
		if _, err := m.Add(ctx, name); err != nil {
			return fmt.Errorf("shard %d: count replica %s: %w", shard, name, err)
		}
	}
	return nil
}

// Check returns an error of settings if --clickhouse-shards has fewer servers than are on record, or gives a shard that has a record no
// replicas: what the process stored there would escape the fences.
func (c *Cluster) Check(ctx context.Context, settings clickhouse.Config) error {
	shards, err := settings.Replicas()
	if err != nil {
		return err //nolint:wrapcheck // it names the setting
	}
	ids, err := c.Shards(ctx)
	if err != nil {
		return err
	}
	recorded, given := 0, 0
	for _, id := range ids {
		r, err := c.Read(ctx, id)
		if err != nil {
			return err
		}
		if len(r.Replicas) > 1 {
			recorded += len(r.Replicas)
		}
	}
	for _, replicas := range shards {
		if len(replicas) > 1 {
			given += len(replicas)
		}
	}
	if given < recorded {
		return config.Invalid("--clickhouse-shards", fmt.Sprintf("has %d of the %d replicas on record", given, recorded), "give the addresses of all of them: `lodestone shard list` names them")
	}
	return nil
}

// Elsewhere looks for earlier events on another shard that has a record.
type Elsewhere struct {
	Cluster *Cluster
	Shard   uint16
	Connect func(name string) *stream.Connection // shared ones

	mu    sync.Mutex
	conns []*connection
}

// connection is the connection to a replica.
type connection struct {
	*stream.Connection
	name string
}

// Name implements named.
func (c *connection) Name() string { return c.name }

// With implements stream.Elsewhere: fn gets a connection to the writer, and what it read is true only if that is the same afterwards.
func (e *Elsewhere) With(ctx context.Context, fn func(by *stream.Connection) error) error {
	r, err := e.Cluster.Read(ctx, e.Shard)
	if err != nil {
		return err
	}
	e.mu.Lock()
	for _, name := range r.Replicas {
		if !slices.ContainsFunc(e.conns, func(c *connection) bool { return c.name == name }) {
			e.conns = append(e.conns, &connection{e.Connect(name), name})
		}
	}
	conns := slices.Clone(e.conns)
	e.mu.Unlock()
	return AtWriter(ctx, e.Cluster.Ledger, e.Shard, conns, func(_ Record, c *connection) error { return fn(c.Connection) })
}
