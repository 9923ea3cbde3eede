package clickhouse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"

	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/config"
)

// The schema of a shard of several replicas is that of one server with other engines, and the fence of epochs. Migrations run on its first
// replica: Keeper hands changes of tables and rows to the others, which get their tables as the first has them.

// KeeperPath is where a replicated table has its state in Keeper. Servers define the macros installation, shard and replica.
const KeeperPath = "/clickhouse/lodestone/{installation}/{shard}/"

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (IF NOT EXISTS )?lodestone\.(\w+).*?;\n`)
	engine      = regexp.MustCompile(`\bENGINE = (\w*?)MergeTree(?:\(([^)]*)\))?`)
	window      = regexp.MustCompile(`\bnon_replicated_deduplication_window\b`)
)

// Replicated returns statements in which tables of lodestone are replicated. Each statement ends with a semicolon and a line break.
func Replicated(statements string) string {
	statements = createTable.ReplaceAllStringFunc(statements, func(statement string) string {
		table := createTable.FindStringSubmatch(statement)[2]
		return engine.ReplaceAllStringFunc(statement, func(e string) string {
			parts := engine.FindStringSubmatch(e)
			arguments := fmt.Sprintf("'%s%s', '{replica}'", KeeperPath, table)
			if parts[2] != "" {
				arguments += ", " + parts[2]
			}
			return "ENGINE = Replicated" + parts[1] + "MergeTree(" + arguments + ")"
		})
	})
	return window.ReplaceAllString(statements, "replicated_deduplication_window")
}

// versionTable returns the statement that creates goose's table where tables are replicated: what one replica has applied is applied to
// the others.
func versionTable() string {
	return Replicated(`CREATE TABLE IF NOT EXISTS lodestone.goose_db_version
(
    version_id Int64,
    is_applied UInt8,
    date       Date DEFAULT now(),
    tstamp     DateTime DEFAULT now()
)
ENGINE = MergeTree
ORDER BY version_id;
`)
}

// closedEpochs has the epochs of writers that are over. Each replica has a list of its own (package ingest/replica), since a server that is
// cut off from the others has to refuse by itself. It is created on every replica before the tables that ask it.
const closedEpochs = "CREATE TABLE IF NOT EXISTS lodestone.closed_epochs (epoch Int64, closed UInt8) ENGINE = Join(ANY, LEFT, epoch)"

// fence returns the statement by which a table of blocks refuses inserts of an earlier writer. A single server needs none. Inserts that name
// no epoch are not bounded.
func fence(table string) string {
	return "ALTER TABLE lodestone." + table + `
    ADD COLUMN IF NOT EXISTS writer_epoch Int64 EPHEMERAL -1,
    MODIFY COLUMN in_time UInt8 MATERIALIZED throwIf(now64(3) >= insert_before, 'the insert came too late')
        + throwIf(joinGet('lodestone.closed_epochs', 'closed', writer_epoch) = 1, 'the writer of the insert was replaced')`
}

// raiseFence makes the tables of blocks refuse inserts of an earlier writer. Keeper hands that to the other replicas.
func raiseFence(ctx context.Context, db *sql.DB) error {
	for _, table := range []string{"events", "link_views"} {
		var there bool
		err := db.QueryRowContext(ctx, "SELECT count() > 0 FROM system.columns WHERE database = 'lodestone' AND table = ? AND name = 'in_time' AND position(default_expression, 'closed_epochs') > 0", table).
			Scan(&there)
		if err == nil && !there {
			_, err = db.ExecContext(ctx, fence(table))
		}
		if err != nil {
			return fmt.Errorf("let ClickHouse's table %s refuse inserts of earlier writers: %w", table, err)
		}
	}
	return nil
}

// migrateShard brings the schema of a shard up to date, and returns its servers in the order in which that was done: the one with the most
// tables is first, since the others copy from it.
func migrateShard(ctx context.Context, replicas []Config, several bool) ([]Config, []int64, error) {
	found := make([]inventory, len(replicas))
	for i, server := range replicas {
		if err := createDatabases(ctx, server); err != nil {
			return nil, nil, err
		}
		inv, err := takeInventory(ctx, server)
		if err != nil {
			return nil, nil, err
		}
		if len(replicas) > 1 && len(inv.plain) > 0 {
			return nil, nil, config.Invalid(shardsSetting, fmt.Sprintf("gives a shard several replicas, and the tables of %s (%s and others) are of one server", inv.address, inv.plain[0]),
				"make them replicated first: docs/replicas.md, from one replica to two")
		}
		found[i] = inv
	}
	slices.SortStableFunc(found, func(a, b inventory) int { return b.replicated - a.replicated })
	replicated := len(replicas) > 1 || found[0].replicated > 0
	ordered := make([]Config, len(found))
	for i, inv := range found {
		ordered[i] = inv.server
		if replicated {
			err := onServer(inv.server, func(db *sql.DB) error {
				_, err := db.ExecContext(ctx, closedEpochs)
				return err
			})
			if err != nil {
				return nil, nil, fmt.Errorf("create the list of earlier writers on ClickHouse at %s: %w", inv.address, err)
			}
		}
	}
	applied, err := migrateServer(ctx, ordered[0], several, replicated)
	if err != nil {
		return nil, nil, err
	}
	for _, other := range ordered[1:] {
		if err := copySchema(ctx, ordered[0], other); err != nil {
			return nil, nil, err
		}
	}
	return ordered, applied, nil
}

// inventory is what a server has.
type inventory struct {
	server     Config
	address    string
	plain      []string // tables that belong to one server
	replicated int
}

func takeInventory(ctx context.Context, c Config) (inv inventory, err error) {
	o, err := c.Options()
	if err != nil {
		return inv, err
	}
	inv.server, inv.address = c, o.Addr[0]
	err = onServer(c, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT groupArrayIf(name, NOT startsWith(engine, 'Replicated')), toInt64(countIf(startsWith(engine, 'Replicated')))
			FROM (SELECT name, engine FROM system.tables WHERE database = 'lodestone' AND endsWith(engine, 'MergeTree') ORDER BY name)`).Scan(&inv.plain, &inv.replicated)
	})
	if err != nil {
		return inv, fmt.Errorf("list the tables of ClickHouse at %s: %w", inv.address, err)
	}
	return inv, nil
}

// RequireReplicated returns an error if a server has tables that are not replicated.
func RequireReplicated(ctx context.Context, server Config) error {
	inv, err := takeInventory(ctx, server)
	if err == nil && len(inv.plain) > 0 {
		err = fmt.Errorf("ClickHouse at %s has tables of one server (%s and others): drop its databases lodestone, lodestone_all and analytics, give one address for each shard, "+
			"and add the replicas afterwards (docs/replicas.md, from one replica to two)", inv.address, inv.plain[0])
	}
	return err
}

// object is a table or a view.
type object struct{ database, name, statement string }

// copySchema gives a replica the tables and views that it lacks, as another replica has them now: a table that is created as its migration
// says would differ from what Keeper has of it. It drops nothing.
func copySchema(ctx context.Context, from, to Config) error {
	var there []object
	err := onServer(from, func(db *sql.DB) (err error) {
		there, err = objects(ctx, db)
		return err
	})
	if err != nil {
		return err
	}
	return onServer(to, func(db *sql.DB) error {
		if err := createFunctions(ctx, db); err != nil {
			return err
		}
		has, err := objects(ctx, db)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(there, func(o object) bool {
			return slices.Contains(has, o) || !o.isView() && slices.ContainsFunc(has, o.isNamedAs)
		})
		for len(left) > 0 {
			// A view may read another, so what fails is tried again after the others.
			var later []object
			var errs []error
			for _, o := range left {
				if _, err := db.ExecContext(ctx, o.create()); err != nil {
					errs, later = append(errs, fmt.Errorf("create %s.%s on another replica: %w", o.database, o.name, err)), append(later, o)
				}
			}
			if len(later) == len(left) {
				return errors.Join(errs...)
			}
			left = later
		}
		return nil
	})
}

func (o object) isNamedAs(other object) bool {
	return o.database == other.database && o.name == other.name
}

var isView = regexp.MustCompile(`^CREATE VIEW `)

func (o object) isView() bool { return isView.MatchString(o.statement) }

// create returns the statement that creates the object, or replaces a view.
func (o object) create() string {
	return isView.ReplaceAllString(o.statement, "CREATE OR REPLACE VIEW ")
}

func objects(ctx context.Context, db *sql.DB) (all []object, err error) {
	rows, err := db.QueryContext(ctx, "SELECT database, name, create_table_query FROM system.tables WHERE database IN ('lodestone', 'analytics') AND name NOT LIKE '.inner%' ORDER BY engine = 'View', database = 'analytics', name")
	if err != nil {
		return nil, fmt.Errorf("list ClickHouse's tables: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() && err == nil {
		var o object
		err = rows.Scan(&o.database, &o.name, &o.statement)
		all = append(all, o)
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		return nil, fmt.Errorf("list ClickHouse's tables: %w", err)
	}
	return all, nil
}

// checkReplicas returns an error unless the servers of a shard have its id and names of their own.
func checkReplicas(ctx context.Context, id uint16, replicas []Config) error {
	if len(replicas) == 1 {
		return nil
	}
	var names []string
	for _, server := range replicas {
		err := onServer(server, func(db *sql.DB) error {
			if _, err := db.ExecContext(ctx, "SYSTEM SYNC REPLICA lodestone.shard LIGHTWEIGHT"); err != nil {
				return fmt.Errorf("wait for the copy of the shard's id: %w", err)
			}
			var is uint16
			var name string
			err := db.QueryRowContext(ctx, "SELECT max(id), getMacro('replica') FROM lodestone.shard").Scan(&is, &name)
			switch {
			case err != nil:
				return fmt.Errorf("read the id of a ClickHouse shard and the name of the replica: %w", err)
			case is != id:
				return fmt.Errorf("replicas of one shard in %s are shard %d and shard %d: give the servers the macro shard that docs/replicas.md shows", shardsSetting, id, is)
			case slices.Contains(names, name):
				return fmt.Errorf("two replicas of shard %d have the name %s: give each server a macro replica of its own", id, name)
			}
			names = append(names, name)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Unsuitable returns why servers cannot be replicas of a shard, as far as their settings and versions say.
func Unsuitable(ctx context.Context, c Config) (wrong []string, err error) {
	shards, err := c.Replicas()
	if err != nil {
		return nil, err
	}
	for _, replicas := range shards {
		if len(replicas) == 1 {
			continue
		}
		for _, server := range replicas {
			o, err := server.Options()
			if err != nil {
				return nil, err
			}
			var macros []string
			var version string
			o.Auth.Database = "" // it may not exist yet
			db := native.OpenDB(o)
			err = db.QueryRowContext(ctx, "SELECT groupArray(macro), version() FROM system.macros").Scan(&macros, &version)
			if err = errors.Join(err, db.Close()); err != nil {
				return nil, fmt.Errorf("read the macros of ClickHouse at %s: %w", o.Addr[0], err)
			}
			for _, macro := range []string{"installation", "shard", "replica"} {
				if !slices.Contains(macros, macro) {
					wrong = append(wrong, fmt.Sprintf("%s has no macro %s", o.Addr[0], macro))
				}
			}
			if losesParts(version) {
				wrong = append(wrong, fmt.Sprintf("%s is version %s, where KILL QUERY can make a replica lose a part (ClickHouse#112149)", o.Addr[0], version))
			}
		}
	}
	return wrong, nil
}

// losesParts reports whether a version lacks the repair of ClickHouse#112149.
func losesParts(version string) bool {
	var major, minor, patch int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); n < 3 {
		return false
	}
	fixed := map[[2]int]int{{26, 3}: 33, {26, 6}: 6, {26, 7}: 7, {26, 8}: 3}
	if since, known := fixed[[2]int{major, minor}]; known {
		return patch < since
	}
	return major < 26 || major == 26 && minor < 9
}
