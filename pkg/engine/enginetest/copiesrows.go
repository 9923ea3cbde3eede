package enginetest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/clickhouse"
)

// change is a statement that Keeper hands to every replica.
type change struct {
	statement  string
	parameters []proto.Parameter
}

var (
	// removes are changes that take rows away. One server makes them while the others do, so that none gets the rows again from another.
	removes = regexp.MustCompile(`^\s*(?:ALTER TABLE lodestone\.\w+\s+(?:DELETE|DROP PARTITION)|OPTIMIZE TABLE lodestone\.)`)
	// alters are changes of rows, which have to be everywhere before.
	alters = regexp.MustCompile(`^\s*(?:ALTER|OPTIMIZE) TABLE lodestone\.(\w+)\s+(?:DELETE|DROP PARTITION|UPDATE|FINAL)`)
)

// alter makes a change on the other replicas, and here if it is asked to. Those that do not run make it when they copy rows again.
func (r *Copy) alter(c change, here bool) error {
	r.copying.Lock()
	defer r.copying.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	var all []*Copy
	for _, o := range *r.shard {
		switch {
		case o == r:
		case o.runs():
			all = append(all, o)
		default:
			o.missed = append(o.missed, c)
		}
	}
	if here {
		all = append(all, r)
	}
	for _, o := range all {
		if table := alters.FindStringSubmatch(c.statement); table != nil {
			if err := o.copyRows(ctx, table[1]); err != nil {
				return err
			}
		}
	}
	for _, o := range all {
		if err := o.make(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// unescape undoes what the protocol does with texts.
var unescape = strings.NewReplacer(`\\`, `\`, `\'`, `'`)

// make makes a change of a table, if the server has it.
func (r *Copy) make(ctx context.Context, c change) error {
	const unknownTable, unknownDatabase = 60, 81
	conn, err := r.open()
	if err != nil {
		return err
	}
	with, settings := native.Parameters{}, native.Settings{"mutations_sync": 0}
	for _, p := range c.parameters {
		with[p.Key] = unescape.Replace(strings.TrimSuffix(strings.TrimPrefix(p.Value, "'"), "'"))
	}
	if removes.MatchString(c.statement) {
		settings["mutations_sync"] = 1
	}
	err = conn.Exec(native.Context(ctx, native.WithParameters(with), native.WithSettings(settings)), c.statement)
	if code, _ := clickhouse.IsException(err); err != nil && code != unknownTable && code != unknownDatabase {
		return errors.Join(fmt.Errorf("replica %s: %w", r.Name, err), conn.Close())
	}
	return conn.Close()
}

const copyTimeout = 30 * time.Second

// followPause is about how far a copy is behind.
const followPause = 100 * time.Millisecond

// Follow copies events, and rows of the other tables that are named, between the servers of each shard until the end of the test, or until it is
// stopped, as replicas do that lag a little.
func (c *Copies) Follow(others ...string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, shard := range c.Servers {
		for _, r := range shard {
			all.Go(func() {
				for tick := time.NewTicker(followPause); ; {
					select {
					case <-ctx.Done():
						tick.Stop()
						return
					case <-tick.C:
					}
					for _, table := range append([]string{"events", "link_views"}, others...) {
						_ = r.copyTable(table) // a server that ended is tried again
					}
				}
			})
		}
	}
	stop = sync.OnceFunc(func() { cancel(); all.Wait() })
	c.Servers[0][0].t.Cleanup(stop)
	return stop
}

// Sync gives the server the rows of a table that it lacks and the others have.
func (r *Copy) Sync(table string) {
	r.t.Helper()
	if err := r.copyTable(table); err != nil {
		r.t.Fatal(err)
	}
}

// copyTable copies the rows of a table from the others that run, after what they missed. A server that does not run any more has none to give.
func (r *Copy) copyTable(table string) error {
	r.copying.Lock()
	defer r.copying.Unlock()
	if !r.runs() { // it may have ended before it could begin
		return errNoSession
	}
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	return r.copyRows(ctx, table)
}

// sync is SYSTEM SYNC REPLICA: it copies the rows of a table, and waits until the server has made its changes, unless it is lightweight.
func (r *Copy) sync(table string, lightweight bool) error {
	if err := r.copyTable(table); err != nil || lightweight {
		return err
	}
	conn, err := r.open()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	again := time.NewTicker(followPause)
	defer again.Stop()
	for {
		var left uint64
		err := conn.QueryRow(r.t.Context(), "SELECT count() FROM system.mutations WHERE database = 'lodestone' AND table = ? AND NOT is_done", table).Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-again.C:
		case <-r.t.Context().Done():
			return r.t.Context().Err()
		}
	}
}

var errNoSession = errors.New("the replica is read-only: it has no session in Keeper")

// forget is SYSTEM DROP REPLICA, which refuses one that has a session.
func (r *Copy) forget(statement string) error {
	if !r.runs() {
		return errNoSession
	}
	for _, o := range r.others() {
		if strings.Contains(statement, "'"+o.Name+"'") {
			return fmt.Errorf("replica %s is active", o.Name)
		}
	}
	return nil
}

func (r *Copy) copyRows(ctx context.Context, table string) error {
	// What one of them missed may be that rows went, which the others would get from it again. So one that comes back meanwhile gives no rows yet.
	others := r.others()
	for _, o := range append(slices.Clone(others), r) {
		for len(o.missed) > 0 {
			if err := o.make(ctx, o.missed[0]); err != nil {
				return err
			}
			o.missed = o.missed[1:]
		}
	}
	conn, err := r.open()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	var columns, keys []string
	err = conn.QueryRow(ctx, `SELECT groupArray(name), groupArrayIf(name, name IN ('kafka_topic_id', 'kafka_partition', 'kafka_offset'))
		FROM system.columns WHERE database = 'lodestone' AND table = ? AND default_kind NOT IN ('EPHEMERAL', 'ALIAS')`, table).Scan(&columns, &keys)
	if err != nil {
		return err
	}
	if len(columns) == 0 {
		return nil // it has no such table yet
	}
	if len(keys) == 0 {
		keys = columns
	}
	all, key := strings.Join(columns, ", "), "("+strings.Join(keys, ", ")+")"
	for _, other := range others {
		err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO lodestone.%[1]s (%[2]s) SETTINGS insert_allow_materialized_columns = 1, async_insert = 0, insert_deduplicate = 0, transform_null_in = 1
			SELECT %[2]s FROM remote('%[4]s', lodestone.%[1]s, 'lodestone', '%[5]s') WHERE %[3]s GLOBAL NOT IN (SELECT %[3]s FROM lodestone.%[1]s)`,
			table, all, key, other.port, copyPassword))
		const unknownTable = 60
		if code, _ := clickhouse.IsException(err); err != nil && code != unknownTable {
			return fmt.Errorf("copy %s from replica %s: %w", table, other.Name, err)
		}
	}
	return nil
}
