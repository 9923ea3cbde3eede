package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Of a shard with several replicas, one writes (package ingest/replica). Jobs that change rows, or whose answers decide something, use that
// one: the others may lack what was stored a moment ago.

// Writers finds the replica of a shard that writes, and the epoch of that. It is an error if none does at present.
type Writers interface {
	Writer(ctx context.Context, shard uint16) (name string, epoch int64, err error)
	// Replicas returns the names of all replicas of a shard.
	Replicas(ctx context.Context, shard uint16) ([]string, error)
}

// ErrReplaced says that a shard got another writer while a job read from the one before.
var ErrReplaced = errors.New("the writer of a ClickHouse shard was replaced meanwhile")

// ErrNoWriter says that no replica of a shard writes at present, or that it is not known which.
var ErrNoWriter = errors.New("a ClickHouse shard has no writer")

var errNoWriters = errors.New("a ClickHouse shard has several replicas, and Postgres, which knows the one that writes, is not given")

// writerTimeout bounds the look for a writer.
const writerTimeout = 10 * time.Second

// quorum returns the settings of jobs that write to one of several replicas: what they write is on a majority before they go on.
func quorum(settings native.Settings, replicas int) native.Settings {
	settings = maps.Clone(settings)
	if settings == nil {
		settings = native.Settings{}
	}
	settings["insert_quorum"], settings["insert_quorum_parallel"] = replicas/2+1, 1
	return settings
}

// shardConn is the connection to one shard.
type shardConn struct {
	replicas []*replicaConn
	writers  Writers
	shard    atomic.Uint32 // its id; 0: not known yet
}

type replicaConn struct {
	driver.Conn
	address string
	known   atomic.Value // the name that it had when it was asked last
}

// at is a writer that was found.
type at struct {
	*replicaConn
	shard uint16
	epoch int64
}

// shardIDs are the shards that were found so far. Two addresses may lead to one server, and then none to another.
type shardIDs map[uint16]bool

func (ids shardIDs) add(id uint16) error {
	if ids[id] {
		return fmt.Errorf("two shards of %s are shard %d: an address of one leads to a server of the other", shardsSetting, id)
	}
	ids[id] = true
	return nil
}

// atWriter calls fn with the replica that writes, if its shard is not among those given, to which it is added.
func (s *shardConn) atWriter(others shardIDs, fn func(driver.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), writerTimeout)
	w, err := s.writer(ctx)
	cancel()
	if err != nil {
		return err
	}
	if err := others.add(w.shard); err != nil {
		return err
	}
	if err := fn(w.Conn); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(context.Background(), writerTimeout)
	defer cancel()
	return s.check(ctx, w)
}

// writer returns the replica that writes. It has shown its name, and a server that is alone the id of its shard.
func (s *shardConn) writer(ctx context.Context) (w at, err error) {
	if len(s.replicas) == 1 {
		w.replicaConn = s.replicas[0]
		if err := w.QueryRow(ctx, "SELECT id FROM lodestone.shard").Scan(&w.shard); err != nil {
			return w, fmt.Errorf("ask ClickHouse at %s which shard it is: %w", w.address, err)
		}
		return w, nil
	}
	if s.writers == nil {
		return w, errNoWriters
	}
	var errs []error
	id, err := s.id(ctx)
	if err != nil {
		return w, err
	}
	name, epoch, err := s.writers.Writer(ctx, id)
	if err != nil {
		return w, fmt.Errorf("%w: %w", ErrNoWriter, err)
	}
	for _, known := range []bool{true, false} { // a replica that does not answer is not waited for in vain
		for _, r := range s.replicas {
			if (r.known.Load() == name) != known {
				continue
			}
			m, err := r.identify(ctx)
			switch {
			case err != nil:
				errs = append(errs, err)
			case m.Shard != id:
				return w, fmt.Errorf("replicas of one shard in %s are shard %d and shard %d", shardsSetting, id, m.Shard)
			case m.Replica == name:
				return at{r, id, epoch}, nil
			}
		}
	}
	return w, errors.Join(append(errs, fmt.Errorf("%w: replica %s of shard %d does not answer", ErrNoWriter, name, id))...)
}

// id returns the id of the shard. It is asked once: a replica that is of another shard is noticed when it is used.
func (s *shardConn) id(ctx context.Context) (uint16, error) {
	if id := s.shard.Load(); id != 0 {
		return uint16(id), nil
	}
	var errs []error
	for _, r := range s.replicas {
		m, err := r.identify(ctx)
		if err == nil {
			s.shard.Store(uint32(m.Shard))
			return m.Shard, nil
		}
		errs = append(errs, err)
	}
	return 0, errors.Join(errs...)
}

// check returns an error if the writer is another one by now.
func (s *shardConn) check(ctx context.Context, w at) error {
	if w.epoch == 0 {
		return nil // the only server
	}
	_, epoch, err := s.writers.Writer(ctx, w.shard)
	if err != nil {
		return err //nolint:wrapcheck // it names the shard
	}
	if epoch != w.epoch {
		return fmt.Errorf("shard %d: %w", w.shard, ErrReplaced)
	}
	return nil
}

// identify asks a replica for its shard and name, each time: its address may lead to another server by now.
func (r *replicaConn) identify(ctx context.Context) (m Member, err error) {
	if err := r.QueryRow(ctx, "SELECT id, getMacro('replica') FROM lodestone.shard").Scan(&m.Shard, &m.Replica); err != nil {
		return m, fmt.Errorf("ask ClickHouse at %s which replica it is: %w", r.address, err)
	}
	r.known.Store(m.Replica)
	return m, nil
}

func (s *shardConn) ping(ctx context.Context) (err error) {
	for _, r := range s.replicas {
		if err = r.Ping(ctx); err == nil {
			return nil
		}
	}
	return err
}

func (s *shardConn) each(ctx context.Context, fn func(driver.Conn) error) error {
	if len(s.replicas) == 1 {
		return fn(s.replicas[0].Conn)
	}
	var errs []error
	for _, r := range s.replicas {
		if err := r.Ping(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := fn(r.Conn); err != nil {
			return err
		}
	}
	if len(errs) == len(s.replicas) {
		return errors.Join(errs...)
	}
	return nil
}

func (s *shardConn) eachReplica(ctx context.Context, tables []string, fn func(driver.Conn) error) error {
	if len(s.replicas) == 1 {
		return nil
	}
	if s.writers == nil {
		return errNoWriters
	}
	id, err := s.id(ctx)
	if err != nil {
		return err
	}
	left, err := s.writers.Replicas(ctx, id)
	if err != nil {
		return err //nolint:wrapcheck // it names the shard
	}
	var errs []error
	for _, r := range s.replicas {
		m, err := r.identify(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if m.Shard != id || !slices.Contains(left, m.Replica) {
			continue // it is about to be added, and gets what the others have by then
		}
		for _, table := range tables { // changes of rows as well, which LIGHTWEIGHT would not wait for
			if err := r.Exec(ctx, "SYSTEM SYNC REPLICA lodestone."+table); err != nil {
				return fmt.Errorf("wait until replica %s of shard %d has what the others have: %w", m.Replica, id, err)
			}
		}
		if err := fn(r.Conn); err != nil {
			return fmt.Errorf("replica %s of shard %d: %w", m.Replica, id, err)
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == m.Replica })
	}
	if len(left) > 0 {
		return errors.Join(append(errs, fmt.Errorf("replica %s of shard %d does not answer: start it, or drop it with `lodestone shard drop-replica`", strings.Join(left, ", "), id))...)
	}
	return nil
}

func (s *shardConn) close() (err error) {
	for _, r := range s.replicas {
		err = errors.Join(err, r.Close())
	}
	return err
}

// writers lets statements read the writers of all shards, and no other replica.
type writers struct {
	config Config // user and password are those of its file, if it is in one
	secure bool
}

// rewrite returns a statement whose tables are those of the writers, and what returns an error if one was replaced since.
func (w *writers) rewrite(ctx context.Context, shards []*shardConn, query string) (all string, check func() error, err error) {
	found := make([]at, len(shards))
	addresses, ids := make([]string, len(shards)), shardIDs{}
	for i, s := range shards {
		found[i], err = s.writer(ctx)
		if err == nil {
			err = ids.add(found[i].shard)
		}
		if err != nil {
			return "", nil, err
		}
		addresses[i] = found[i].address
	}
	user, password, err := authOf(w.config.Secret.Value(w.config.URL))
	if err != nil {
		return "", nil, err
	}
	all = spreadTable.ReplaceAllStringFunc(query, func(table string) string { return w.table(addresses, table, user, password) })
	return all, func() error {
		for i, s := range shards {
			if err := s.check(ctx, found[i]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// table returns the table function that reads a table of servers. ClickHouse hides the password in its logs.
func (w *writers) table(addresses []string, table, user, password string) string {
	literal := func(s string) string { return "'" + quoted.Replace(s) + "'" }
	function := "remote"
	if w.secure {
		function = "remoteSecure"
	}
	return function + "(" + literal(strings.Join(addresses, ",")) + ", " + table + ", " + literal(user) + ", " + literal(password) + ")"
}

// decidedRows are rows that count if the writer is the same when all of them were read.
type decidedRows struct {
	driver.Rows
	check func() error
}

// Err implements driver.Rows.
func (r decidedRows) Err() error { return errors.Join(r.Rows.Err(), r.check()) }

type decidedRow struct {
	driver.Row
	check func() error
}

// Scan implements driver.Row.
func (r decidedRow) Scan(dest ...any) error { return errors.Join(r.Row.Scan(dest...), r.check()) }

// failedRow is the answer of a statement that was not sent.
type failedRow struct{ err error }

func (r failedRow) Err() error           { return r.err }
func (r failedRow) Scan(...any) error    { return r.err }
func (r failedRow) ScanStruct(any) error { return r.err }

// WriterServers returns the settings of one server of each shard: the one that writes.
func (c Config) WriterServers(ctx context.Context) ([]Config, error) {
	shards, err := c.Replicas()
	if err != nil {
		return nil, err
	}
	if len(shards) == 1 && len(shards[0]) == 1 {
		return shards[0], nil
	}
	servers, ids := make([]Config, len(shards)), shardIDs{}
	for i, replicas := range shards {
		if servers[i], err = c.writerOf(ctx, replicas, ids); err != nil {
			return nil, err
		}
	}
	return servers, nil
}

func (c Config) writerOf(ctx context.Context, replicas []Config, others shardIDs) (found Config, err error) {
	s := &shardConn{writers: c.Writers}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, server := range replicas {
		o, err := server.Options()
		if err != nil {
			return found, err
		}
		conn, err := open(o, 1)
		if err != nil {
			return found, err
		}
		s.replicas = append(s.replicas, &replicaConn{Conn: conn, address: o.Addr[0]})
	}
	w, err := s.writer(ctx)
	if err == nil {
		err = others.add(w.shard)
	}
	if err != nil {
		return found, err
	}
	return replicas[slices.Index(s.replicas, w.replicaConn)], nil
}
