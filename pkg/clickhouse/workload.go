package clickhouse

import (
	"context"
	"errors"
	"fmt"

	"lodestone/pkg/config"
)

// WorkloadConfig bounds what SQL users take of a server.
type WorkloadConfig struct {
	Queries int `name:"sql-queries" placeholder:"N" help:"Queries of SQL users that run at a time, of all these users together; the others wait their turn. Makes ClickHouse's workload analyst, which the users' profile names. Default: the server's workloads are left as they are."`
}

// Validate returns every problem of the settings.
func (c WorkloadConfig) Validate() error {
	if c.Queries < 0 || c.Queries > 1000 {
		return config.Invalid("--sql-queries", "is out of range", "give a number from 1 to 1000, such as half of ClickHouse's processors")
	}
	return nil
}

// workloadWaiting is how many queries of SQL users wait: a few dashboards. Those beyond are refused.
const workloadWaiting = 32

func workloadSettings(queries int) string {
	return fmt.Sprintf("SETTINGS max_concurrent_queries = %[1]d, max_waiting_queries = %[2]d, max_concurrent_threads = %[1]d", queries, workloadWaiting)
}

// Workload returns the statements, in their order, that put the queries of SQL users into a line, of which so many run at a time.
// They can be repeated. Queries of other users are in none of ClickHouse's workloads, and nothing changes for them. Threads are
// bounded as well, since ClickHouse gives some statements a way past the line: KILL QUERY, and what reads system.processes, of which
// it refuses neither before it has run the subqueries.
func Workload(queries int) []string {
	return []string{
		"CREATE OR REPLACE RESOURCE query (QUERY)",
		"CREATE OR REPLACE RESOURCE cpu (MASTER THREAD, WORKER THREAD)",
		"CREATE OR REPLACE WORKLOAD all",
		"CREATE OR REPLACE WORKLOAD analyst IN all " + workloadSettings(queries),
	}
}

// MakeWorkload executes the statements of Workload, unless the line is as they make it.
func MakeWorkload(ctx context.Context, c Config, queries int) (err error) {
	conn, err := Open(c, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var made bool
	if err := conn.QueryRow(ctx, "SELECT count() > 0 FROM system.workloads WHERE name = 'analyst' AND endsWith(create_query, ?)", workloadSettings(queries)).Scan(&made); err != nil {
		return fmt.Errorf("look for ClickHouse's workload for SQL users: %w", err)
	}
	if made {
		return nil
	}
	for _, statement := range Workload(queries) {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("make ClickHouse's workload for SQL users: %w", err)
		}
	}
	return nil
}
