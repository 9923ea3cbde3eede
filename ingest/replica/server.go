package replica

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"lodestone/ingest/stream"
)

// Statements about a replica. The table closed_epochs, and the column writer_epoch of an insert, are of the schema of replicas
// (package clickhouse).
const (
	// Epochs are closed and never opened again, so two processes that do it at once do not undo each other's.
	closeEpochs = "INSERT INTO lodestone.closed_epochs (epoch, closed) SETTINGS async_insert = 0 SELECT toInt64(number), 1 FROM numbers({epoch:UInt64})"
	storedEpoch = "SELECT max(epoch) + 1 AS n FROM lodestone.closed_epochs"
	endInserts  = "KILL QUERY WHERE query_kind = 'Insert' AND startsWith(query_id, 'lodestone-') SYNC"
	// The question is whether the newest row is ahead of the clock. One that is an hour older is not, so it does as well as no row. The index of
	// stored_at then serves, and the column is not read as a whole. Rows that a clock ahead of this one stored are within.
	clocks = "SELECT toUnixTimestamp64Milli(now64(3)) AS n, toUnixTimestamp64Milli(max(stored_at)) AS stored FROM lodestone.events WHERE stored_at >= now64(3) - INTERVAL 1 HOUR"
	active = "SELECT toInt64(if(" + blind + ", -1, max(replica_is_active[{name:String}]))) AS n FROM system.replicas WHERE database = 'lodestone'"
	lag    = "SELECT toInt64(if(" + blind + ", -1, toInt64(max(absolute_delay)))) AS n FROM system.replicas WHERE database = 'lodestone'"
	// A server without a session of its own in Keeper lists no other replica as active, and knows of no lag.
	blind  = "count() = 0 OR countIf(is_readonly OR is_session_expired OR zookeeper_exception != '') > 0"
	forget = "SYSTEM DROP REPLICA %s FROM DATABASE lodestone"
	// LIGHTWEIGHT waits for the parts of inserts (GET_PART, ATTACH_PART) and for parts that are dropped or replaced, in the order of Keeper's
	// log. The default also waits for merges and mutations, which can take hours. A row is there before these as after.
	syncTable = "SYSTEM SYNC REPLICA lodestone.%s LIGHTWEIGHT"
	unchecked = "SELECT toInt64(sum(parts_to_check)) AS n FROM system.replicas WHERE database = 'lodestone'"
	tables    = "SELECT table FROM system.replicas WHERE database = 'lodestone' ORDER BY table"
)

// Conn is a replica over its own connection. It implements Server.
type Conn struct {
	name string
	by   stream.Connection
}

// NewConn returns the replica of a name.
func NewConn(name string, by stream.Connection) *Conn { return &Conn{name, by} }

// Name implements Server.
func (c *Conn) Name() string { return c.name }

// Close closes the connection. It may be used again.
func (c *Conn) Close() { c.by.Close() }

// Accept implements Server.
func (c *Conn) Accept(ctx context.Context, epoch int64) (int64, error) {
	err := c.by.Query(ctx, ch.Query{Body: closeEpochs, Parameters: ch.Parameters(map[string]any{"epoch": epoch})})
	if err != nil {
		return 0, fmt.Errorf("close the epochs before %d: %w", epoch, err)
	}
	return c.Epoch(ctx)
}

// Epoch implements Server.
func (c *Conn) Epoch(ctx context.Context) (int64, error) {
	epoch, err := c.number(ctx, ch.Query{Body: storedEpoch})
	if err != nil {
		return 0, fmt.Errorf("read the epoch: %w", err)
	}
	return epoch, nil
}

// EndInserts implements Server.
func (c *Conn) EndInserts(ctx context.Context) error {
	var status, queryID, user, text proto.ColStr
	err := c.by.Query(ctx, ch.Query{
		Body: endInserts,
		Result: proto.Results{
			{Name: "kill_status", Data: &status}, {Name: "query_id", Data: &queryID}, {Name: "user", Data: &user}, {Name: "query", Data: &text},
		},
		OnResult: func(context.Context, proto.Block) error { return nil },
	})
	if err != nil {
		return fmt.Errorf("end inserts that still run: %w", err)
	}
	return nil
}

// Sync implements Server.
func (c *Conn) Sync(ctx context.Context) error {
	var names proto.ColStr
	var all []string
	err := c.by.Query(ctx, ch.Query{Body: tables, Result: proto.Results{{Name: "table", Data: &names}}, OnResult: func(context.Context, proto.Block) error {
		for i := range names.Rows() {
			all = append(all, names.Row(i))
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("list replicated tables: %w", err)
	}
	for _, s := range stream.All() {
		if !slices.Contains(all, s.Table) {
			return fmt.Errorf("the table lodestone.%s is not replicated on replica %s", s.Table, c.name)
		}
	}
	for _, table := range all {
		if err := c.by.Query(ctx, ch.Query{Body: fmt.Sprintf(syncTable, table)}); err != nil {
			return fmt.Errorf("wait for copies of %s: %w", table, err)
		}
	}
	// An insert whose answer from Keeper was lost may have a part there that is not to be seen on the server yet.
	n, err := c.number(ctx, ch.Query{Body: unchecked})
	if err != nil {
		return fmt.Errorf("count parts to check: %w", err)
	}
	if n > 0 {
		return fmt.Errorf("replica %s still checks %d parts of inserts that failed", c.name, n)
	}
	return nil
}

// Lag returns how far the replica is behind the others, as ClickHouse estimates it.
func (c *Conn) Lag(ctx context.Context) (time.Duration, error) {
	seconds, err := c.known(ctx, ch.Query{Body: lag})
	if err != nil {
		return 0, fmt.Errorf("ask for the lag of replica %s: %w", c.name, err)
	}
	return time.Duration(seconds) * time.Second, nil
}

// Clock implements Server.
func (c *Conn) Clock(ctx context.Context) (now, stored time.Time, err error) {
	var n, newest proto.ColInt64
	err = c.by.Query(ctx, ch.Query{Body: clocks, Result: proto.Results{{Name: "n", Data: &n}, {Name: "stored", Data: &newest}}})
	if err != nil {
		return now, stored, fmt.Errorf("ask ClickHouse for its time: %w", err)
	}
	return time.UnixMilli(n.Row(0)), time.UnixMilli(newest.Row(0)), nil
}

// Active implements Server.
func (c *Conn) Active(ctx context.Context, name string) (bool, error) {
	n, err := c.known(ctx, ch.Query{Body: active, Parameters: ch.Parameters(map[string]any{"name": name})})
	if err != nil {
		return false, fmt.Errorf("look for the session of replica %s: %w", name, err)
	}
	return n > 0, nil
}

// Forget implements Server.
func (c *Conn) Forget(ctx context.Context, name string) error {
	if err := c.by.Query(ctx, ch.Query{Body: fmt.Sprintf(forget, quote(name))}); err != nil {
		return fmt.Errorf("drop replica %s: %w", name, err)
	}
	return nil
}

// quote returns a text of SQL. The statement takes no parameters.
func quote(text string) string {
	quoted := strconv.Quote(text)
	return "'" + quoted[1:len(quoted)-1] + "'"
}

// known returns a number that a server knows from Keeper.
func (c *Conn) known(ctx context.Context, q ch.Query) (int64, error) {
	n, err := c.number(ctx, q)
	if err == nil && n < 0 {
		err = fmt.Errorf("replica %s has no session in Keeper itself", c.name)
	}
	return n, err
}

func (c *Conn) number(ctx context.Context, q ch.Query) (int64, error) {
	var n proto.ColInt64
	q.Result = proto.Results{{Name: "n", Data: &n}}
	if err := c.by.Query(ctx, q); err != nil {
		return 0, err //nolint:wrapcheck // by the caller
	}
	return n.Row(0), nil
}

// partitionRows are the rows of a partition on a replica.
type partitionRows struct {
	*stream.Store
	conn *Conn
}

// NewRows returns the rows of a partition on a replica. The store has the connection of that replica.
func NewRows(name string, store *stream.Store) Rows {
	return &partitionRows{store, NewConn(name, store.Connection)}
}

// Name implements Rows.
func (r *partitionRows) Name() string { return r.conn.name }

// Epoch implements Rows.
func (r *partitionRows) Epoch(ctx context.Context) (int64, error) { return r.conn.Epoch(ctx) }

// Sync implements Rows.
func (r *partitionRows) Sync(ctx context.Context) error {
	if err := r.conn.by.Query(ctx, ch.Query{Body: fmt.Sprintf(syncTable, r.Stream.Table)}); err != nil {
		return fmt.Errorf("wait for copies of %s: %w", r.Stream.Table, err)
	}
	return nil
}

// Insert implements Rows.
func (r *partitionRows) Insert(ctx context.Context, rows stream.Table, how Insert) error {
	err := r.InsertReplicated(ctx, rows, how.Token, stream.Quorum{Replicas: how.Quorum, Epoch: how.Epoch})
	if err != nil {
		return fmt.Errorf("replica %s: %w", r.conn.name, err)
	}
	return nil
}

// Close implements Rows.
func (r *partitionRows) Close() {
	r.Store.Close()
	r.conn.Close()
}
