package clickhouse

import (
	"context"
	"errors"
	"fmt"

	native "github.com/ClickHouse/clickhouse-go/v2"

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

// Workload returns the statements, in their order, that put the queries of SQL users into a line, of which so many run at a time.
// They can be repeated. Queries of other users are in none of ClickHouse's workloads, and nothing changes for them.
func Workload(queries int) []string {
	return []string{
		"CREATE OR REPLACE RESOURCE query (QUERY)",
		"CREATE OR REPLACE WORKLOAD all",
		fmt.Sprintf("CREATE OR REPLACE WORKLOAD analyst IN all SETTINGS max_concurrent_queries = %d, max_waiting_queries = %d", queries, workloadWaiting),
	}
}

// MakeWorkload executes the statements of Workload.
func MakeWorkload(ctx context.Context, c Config, queries int) (err error) {
	o, err := c.Options()
	if err != nil {
		return err
	}
	db := native.OpenDB(o)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range Workload(queries) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make ClickHouse's workload for SQL users: %w", err)
		}
	}
	return nil
}
