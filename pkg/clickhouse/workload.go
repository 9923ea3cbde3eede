package clickhouse

import (
	"context"
	"errors"
	"fmt"

	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/config"
)

// WorkloadConfig limits the resources that SQL users take of a server.
type WorkloadConfig struct {
	Queries int `name:"sql-queries" placeholder:"N" help:"Maximum concurrent queries of all SQL users together; further queries wait. Creates ClickHouse's workload analyst, which the users' profile names. Default: the server's workloads are not changed."`
}

// Validate returns every problem of the settings.
func (c WorkloadConfig) Validate() error {
	if c.Queries < 0 || c.Queries > 1000 {
		return config.Invalid("--sql-queries", "is out of range",
			"give a number from 1 to 1000, such as half of ClickHouse's processors")
	}
	return nil
}

// workloadWaiting is how many queries of SQL users may wait: enough for a few dashboards. Further
// queries are refused.
const workloadWaiting = 32

// WorkloadSettings returns the end of the statement that creates a workload of Workload.
func WorkloadSettings(queries, threads int) string {
	settings := fmt.Sprintf("SETTINGS max_concurrent_queries = %d, max_waiting_queries = %d", queries, workloadWaiting)
	if threads > 0 {
		settings += fmt.Sprintf(", max_concurrent_threads = %d", threads)
	}
	return settings
}

// Workload returns the statements, in their order, that limit how many queries of SQL users run at
// a time; the others wait. The statements are idempotent. Queries of other users belong to no
// workload and are not affected.
//
// threads limits the threads of these queries as well, for statements that ClickHouse does not
// count as queries: KILL QUERY, and reads of system.processes, whose subqueries run before either
// is refused. 0 means no such limit, and is the only safe value for a server that knows recursive
// common table expressions: such a query waits without a timeout for further threads while it holds
// one, so a single statement can stop all SQL users, whatever the limit.
func Workload(queries, threads int) []string {
	statements := []string{
		"CREATE OR REPLACE RESOURCE query (QUERY)",
		"CREATE OR REPLACE RESOURCE cpu (MASTER THREAD, WORKER THREAD)",
		"CREATE OR REPLACE WORKLOAD all",
		"CREATE OR REPLACE WORKLOAD analyst IN all " + WorkloadSettings(queries, threads),
	}
	if threads == 0 {
		statements[1] = "DROP RESOURCE IF EXISTS cpu" // of an earlier version
	}
	return statements
}

// MakeWorkload executes the statements of Workload, without a limit of threads, unless the server
// already has the same workload.
func MakeWorkload(ctx context.Context, c Config, queries int) (err error) {
	conn, err := Open(c, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return EachServer(conn, func(server native.Conn) error { return makeWorkload(ctx, server, queries) })
}

func makeWorkload(ctx context.Context, conn native.Conn, queries int) error {
	var exists bool
	if err := conn.QueryRow(ctx,
		"SELECT count() > 0 FROM system.workloads WHERE name = 'analyst' AND endsWith(create_query, ?)",
		WorkloadSettings(queries, 0)).Scan(&exists); err != nil {
		return fmt.Errorf("look for ClickHouse's workload for SQL users: %w", err)
	}
	if exists {
		return nil
	}
	for _, statement := range Workload(queries, 0) {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("create ClickHouse's workload for SQL users: %w", err)
		}
	}
	return nil
}
