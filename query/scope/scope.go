// Package scope is the only way from a request to ClickHouse. Every query names an
// account, and sees the rows of that account only, whatever the statement says.
//
// Two things hold that. ClickHouse itself adds the comparison with the account to every read of a
// table that has accounts (setting additional_table_filters), also below views, in subqueries and
// in projections; and the query runs with readonly=1, in which it can neither write nor change a
// setting. Statements compare account_id as well: the primary key begins with it, and it is a
// second lock. The connection never leaves the package.
package scope

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/suspect"
	"lodestone/pkg/tracing"
)

// tables lists every table that has rows of accounts. A test compares it with the schema.
var tables = []string{
	"lodestone.events", "lodestone.link_views", "lodestone.lead_magnets",
	"lodestone.generic_links", "lodestone.access_links",
	"lodestone.submissions", "lodestone.magnet_versions", "lodestone.expired_views",
	"lodestone.suspects",
}

// Limits bounds what queries may take.
type Limits struct {
	MaxConns    int           // connections, and so queries at the same time
	Timeout     time.Duration // of one query, with the wait for a connection
	MemoryBytes int64         // of one query on the server
}

// ClickHouse runs queries of accounts. It is safe for concurrent use.
type ClickHouse struct {
	copies  *Copies
	conns   []driver.Conn // by copy; of several shards, each reads all
	limits  Limits
	settled settledTime
	meter   *meter
	leftOut *leftOut
}

// Open returns a ClickHouse without connecting: the first use does.
func Open(c clickhouse.Config, l Limits) (*ClickHouse, error) {
	return OpenCopies(One(c), l)
}

// OpenCopies is Open for what has several copies of the events.
func OpenCopies(c *Copies, l Limits) (*ClickHouse, error) {
	of := &ClickHouse{copies: c, limits: l}
	for _, config := range c.configs {
		conn, err := clickhouse.Open(config, l.MaxConns)
		if err != nil {
			return nil, errors.Join(err, of.Close())
		}
		of.conns = append(of.conns, conn)
	}
	return of, nil
}

// Close closes the connections. Queries that still run fail.
func (c *ClickHouse) Close() error {
	for _, conn := range c.conns {
		if err := conn.Close(); err != nil {
			return fmt.Errorf("close ClickHouse pool: %w", err)
		}
	}
	return nil
}

// Ping reports whether every shard of ClickHouse answers.
func (c *ClickHouse) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	if err := c.conns[c.copies.current()].Ping(ctx); err != nil {
		return fmt.Errorf("ping ClickHouse: %w", err)
	}
	return nil
}

// Statement is a query with {name:Type} parameters. {account:UUID} is always set, by Query.
type Statement struct {
	Name string // of the kind of query, for ClickHouse's query log
	SQL  string
	// Params holds the values in ClickHouse's text form. Text that may have characters to escape goes
	// through clickhouse.Text or clickhouse.Texts.
	Params map[string]string
	// Projection is the one that is to answer, if one is: ClickHouse then plans none of the others,
	// half a millisecond each. It decides nothing but how the rows are read; "" leaves the choice to
	// ClickHouse, NoProjection is the table itself.
	Projection string
	// Alone says that the projection answers the whole statement: neither the table's indexes are
	// looked at beside it, nor what ClickHouse knows of each part without reading it.
	Alone bool
	// AtOnce reads all columns of a granule at once, instead of those of the conditions first: a step
	// less for each part, where there are few columns or each granule has something that is asked for.
	AtOnce bool
	// Threads that run it; 0: one. Few of many short statements gain by more.
	Threads int
	// Whole says that the sessions that the account leaves out are read like all others: lists show
	// everything.
	Whole bool
	// OneSnapshot says that all reads of a table see one state of it, whatever is stored meanwhile.
	OneSnapshot bool
}

// NoProjection is the Statement.Projection of what the table itself answers.
const NoProjection = "none"

// Row is the row that is read.
type Row interface {
	Scan(into ...any) error
}

// around matches what would get past the filter: a read of a table without its name, a table that
// is not one of accounts, and settings of the statement's own (ClickHouse checks those of the whole
// statement, but not those of a subquery). Statements are ours, so this guards against a slip.
var around = regexp.MustCompile(`(?i)\b(merge\w*|cluster\w*|remote\w*|loop)\s*\(|\bsystem\s*\.|\bsettings\b`)

// Query runs the statement for the account and calls each with every row of the result. Its
// errors, and those of each, are returned with the statement's name; IsUnavailable knows the ones
// that may pass.
func (c *ClickHouse) Query(ctx context.Context, account uuid.UUID, s Statement, each func(Row) error) error {
	if err := s.check(account); err != nil {
		return err
	}
	began, asker := time.Now(), ctx
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	ctx, end := tracing.Begin(ctx, func() string { return "clickhouse " + s.Name })
	var rules []suspect.Rule
	var err error
	if !s.Whole {
		rules, err = c.leftOut.of(ctx, account)
	}
	if err == nil {
		err = c.ask(c.scoped(ctx, account, s, rules), s.SQL, each)
	}
	end(err)
	c.meter.observe(asker, began, err)
	if err != nil {
		return fmt.Errorf("query %s: %w", s.Name, err)
	}
	return nil
}

// ask runs a statement and calls each with every row of the result. A connection that turns out to
// be dead is replaced once.
func (c *ClickHouse) ask(ctx context.Context, sql string, each func(Row) error) error {
	began := false
	return c.on(ctx, func(conn driver.Conn) error {
		return ask(ctx, conn, sql, func(row Row) error {
			began = true
			return each(row)
		})
	}, func() bool { return !began })
}

// on calls fn with the connections to the copy that the request reads. If that is away, and fn may
// be called again, it is called with those to another one.
func (c *ClickHouse) on(ctx context.Context, fn func(driver.Conn) error, again func() bool) error {
	index, open := c.copies.fix(ctx)
	err := fn(c.conns[index])
	if !open || !isAway(err) || !again() || ctx.Err() != nil {
		return err
	}
	other, ok := c.copies.instead(index, err)
	if !ok {
		return err
	}
	c.copies.move(ctx, other)
	return fn(c.conns[other])
}

func ask(ctx context.Context, conn driver.Conn, sql string, each func(Row) error) (err error) {
	rows, err := conn.Query(ctx, sql)
	if isBroken(err) && ctx.Err() == nil {
		rows, err = conn.Query(ctx, sql)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scoped adds to the context everything that confines the query.
func (c *ClickHouse) scoped(ctx context.Context, account uuid.UUID, s Statement,
	rules []suspect.Rule) context.Context {
	settings, params := s.confined(account, rules, c.limits)
	return native.Context(ctx, native.WithParameters(params), native.WithSettings(settings),
		native.WithSpan(trace.SpanContextFromContext(ctx)), metered(ctx))
}

// check returns why a statement may not run for an account, or nil.
func (s Statement) check(account uuid.UUID) error {
	if account == uuid.Nil {
		return fmt.Errorf("query %s: no account", s.Name)
	}
	if found := around.FindString(s.SQL); found != "" {
		return fmt.Errorf("query %s: %q is not allowed in a statement of an account", s.Name, found)
	}
	return nil
}

// confined returns the settings and the parameters that confine the statement to an account,
// without the sessions of some rules, and to limits.
func (s Statement) confined(account uuid.UUID, rules []suspect.Rule, l Limits) (native.Settings, native.Parameters) {
	params := native.Parameters{}
	maps.Copy(params, s.Params)
	params["account"] = account.String()
	settings := s.Settings()
	maps.Copy(settings, native.Settings{
		"additional_table_filters": filters(account, rules),
		"readonly":                 1,
		"max_memory_usage":         l.MemoryBytes,
		// The driver sets a later one from the deadline, if that is not within a second.
		"max_execution_time": int64(math.Ceil(l.Timeout.Seconds())),
		"log_comment":        "lodestone query: " + s.Name,
	})
	return settings, params
}

// Settings returns how the server is to run the statement, in a new map. The account and the limits
// are not among them: they are added by Query.
func (s Statement) Settings() native.Settings {
	settings := native.Settings{
		// Queries are short, and many run at once: handing one over between threads of the server, to
		// compute or to read a file, takes longer than it saves.
		"max_threads":                  max(1, s.Threads),
		"local_filesystem_read_method": "pread",
		// It remembers which granules a condition leaves out: what one account's query
		// left out must never be taken for what another's would.
		"use_query_condition_cache": 0,
		// Statistics of columns choose between plans. Our statements have one plan, so the look-up
		// is skipped.
		"use_statistics": 0,
		// The server compiles an expression when it meets it the third time, which takes it 12 to 54 ms.
		// The statements of lists are no faster with those that are compiled.
		"compile_expressions":           0,
		"compile_aggregate_expressions": 0,
		"compile_sort_description":      0,
	}
	if s.OneSnapshot {
		settings["enable_shared_storage_snapshot_in_query"] = 1
	}
	switch s.Projection {
	case "":
	case NoProjection:
		settings["optimize_use_projections"] = 0
	default:
		settings["preferred_optimize_projection_name"] = s.Projection
	}
	if s.Alone {
		settings["use_skip_indexes"] = 0
		settings["optimize_use_implicit_projections"] = 0
	}
	if s.AtOnce {
		settings["optimize_move_to_prewhere"] = 0
		settings["query_plan_optimize_prewhere"] = 0
	}
	return settings
}

// filters returns the text of a map from table to condition, in ClickHouse's form. The same holds
// on each shard that the server asks for its rows, and for the tables over all shards.
func filters(account uuid.UUID, rules []suspect.Rule) string {
	return conditions(func(table string) string {
		own := fmt.Sprintf(`account_id = toUUID(\'%s\')`, account)
		if len(rules) == 0 {
			return own
		}
		switch table {
		case "lodestone.events":
			own += without(account, rules)
		case "lodestone.link_views":
			own += " AND suspect NOT IN " + list(rules)
		}
		return own
	})
}

// conditions returns the text of a map from each table to its condition.
func conditions(of func(table string) string) string {
	list := make([]string, 0, 2*len(tables))
	for _, table := range tables {
		list = append(list, fmt.Sprintf("'%s':'%s'", table, of(table)))
		if all := clickhouse.OverShards(table); all != table {
			list = append(list, fmt.Sprintf("'%s':'%s'", all, of(table)))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// earliest asks each shard for a time and for that of its clock, and returns the earliest of each:
// what is true of a shard up to a time by its clock, is true of all shards up to the earliest,
// whatever their clocks show.
func (c *ClickHouse) earliest(ctx context.Context, name, statement string) (oldest, clock time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	err = c.on(ctx, func(conn driver.Conn) error {
		oldest, clock = time.Time{}, time.Time{}
		return clickhouse.EachShard(conn, func(shard driver.Conn) error {
			var at, now int64
			err := ask(c.unscoped(ctx, name), shard, statement, func(row Row) error { return row.Scan(&now, &at) })
			if err != nil {
				return fmt.Errorf("query %s: %w", name, err)
			}
			if until := time.UnixMilli(at).UTC(); oldest.IsZero() || until.Before(oldest) {
				oldest = until
			}
			if until := time.UnixMilli(now).UTC(); clock.IsZero() || until.Before(clock) {
				clock = until
			}
			return nil
		})
	}, func() bool { return true })
	return oldest, clock, err
}

// unscoped confines a query that reads no table of accounts.
func (c *ClickHouse) unscoped(ctx context.Context, name string) context.Context {
	return native.Context(ctx, native.WithSettings(c.bounds(name)), native.WithoutProfileEvents())
}

// bounds returns the settings that let a query read only, and take no more than the limits, in a
// new map.
func (c *ClickHouse) bounds(name string) native.Settings {
	return native.Settings{
		"readonly":           1,
		"max_memory_usage":   c.limits.MemoryBytes,
		"max_execution_time": int64(math.Ceil(c.limits.Timeout.Seconds())),
		"log_comment":        "lodestone query: " + name,
	}
}
