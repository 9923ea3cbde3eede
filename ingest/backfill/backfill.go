// Package backfill fills columns of rows that a release without them stored: the names of browser and operating system, from the
// user agent. It changes rows in place, one month at a time, while consumers go on: a row keeps its place in the log and
// everything else that a consumer looks at.
//
// It runs in the consumer's process rather than in a migration, since consumers of the release before store more such rows until
// the last of them is replaced.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/agent"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

const (
	lookEvery     = time.Hour  // for rows that were stored meanwhile
	agentsAtOnce  = 10_000     // user agents of one change, which ClickHouse keeps as text
	maxQueryBytes = "67108864" // of that text: no user agent takes more than 512 bytes
)

// tables are those that have the columns.
var tables = []string{"events", "link_views"}

// Job is a service.Service. Any number may run: a change that two of them ask for finds nothing to do the second time.
type Job struct {
	*service.Loop
	store  clickhouse.Config
	agents *agent.Parser
	log    *slog.Logger
	errors prometheus.Counter
}

// Deps is what the service works with; all of it is required.
type Deps struct {
	ClickHouse clickhouse.Config
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the service.
func New(d Deps) *Job {
	job := &Job{
		store: d.ClickHouse, agents: agent.New(), log: d.Log,
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_backfill_errors_total", Help: "Attempts to fill columns of rows of an earlier release that failed and are repeated."}),
	}
	d.Registerer.MustRegister(job.errors)
	job.Loop = service.NewLoop("backfill", job.run)
	return job
}

func (j *Job) run(ctx context.Context, ready func()) error {
	ready()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := j.Fill(ctx); err != nil && ctx.Err() == nil {
			j.errors.Inc()
			j.log.Warn("cannot fill columns of rows of an earlier release, will try again", "retry_in", lookEvery, "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Fill names the browser and the operating system of all rows that lack the names, the newest months first.
func (j *Job) Fill(ctx context.Context) (err error) {
	conn, err := clickhouse.Open(j.store, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return clickhouse.EachShard(conn, func(shard driver.Conn) error { return j.fill(ctx, shard) })
}

func (j *Job) fill(ctx context.Context, conn driver.Conn) error {
	for _, table := range tables {
		months, err := clickhouse.Strings(ctx, conn, "SELECT DISTINCT _partition_id FROM lodestone."+table+" WHERE "+lacking+" ORDER BY 1 DESC", nil)
		if err != nil {
			return err
		}
		for _, month := range months {
			if err := j.fillMonth(ctx, conn, table, month); err != nil {
				return err
			}
			j.log.Info("named browsers and operating systems of rows of an earlier release", "table", table, "month", month)
		}
	}
	return nil
}

// lacking is the condition that a row lacks its names: the names of a user agent are never empty.
const lacking = "agent_names = '' AND user_agent != ''"

// fillMonth names those of a month. Rows that are stored meanwhile are for the next look.
func (j *Job) fillMonth(ctx context.Context, conn driver.Conn, table, month string) error {
	for more := true; more; {
		if err := clickhouse.AwaitMutations(ctx, conn, table, own); err != nil { // another process may have asked for the same
			return err
		}
		agents, err := clickhouse.Strings(ctx, conn, fmt.Sprintf("SELECT DISTINCT user_agent FROM lodestone.%s WHERE _partition_id = {month:String} AND %s LIMIT %d", table, lacking, agentsAtOnce),
			native.Parameters{"month": month})
		if err != nil || len(agents) == 0 {
			return err
		}
		if err := j.change(ctx, conn, table, month, agents); err != nil {
			return err
		}
		more = len(agents) == agentsAtOnce
	}
	return clickhouse.AwaitMutations(ctx, conn, table, own)
}

// change begins to name the rows of some user agents.
func (j *Job) change(ctx context.Context, conn driver.Conn, table, month string, agents []string) error {
	slices.Sort(agents)
	names := make([]string, len(agents))
	for i, a := range agents {
		names[i] = j.agents.Names(a).String()
	}
	err := conn.Exec(native.Context(ctx,
		native.WithParameters(native.Parameters{"month": month, "agents": clickhouse.Texts(agents), "names": clickhouse.Texts(names)}),
		native.WithSettings(native.Settings{"mutations_sync": "0", "max_query_size": maxQueryBytes})),
		"ALTER TABLE lodestone."+table+" UPDATE agent_names = transform(toString(user_agent), {agents:Array(String)}, {names:Array(String)}, '')"+
			" IN PARTITION ID {month:String} WHERE "+lacking)
	if err != nil {
		return fmt.Errorf("name browsers of %s: %w", table, err)
	}
	return nil
}

// own begins the command of every change, as ClickHouse lists it. Mutations of others have other commands.
const own = "(UPDATE agent_names = transform(toString(user_agent), "
