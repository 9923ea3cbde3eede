package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"lodestone/ingest/replica"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
)

type shardCommand struct {
	Data        dataConfig         `embed:""`
	List        shardListCommand   `cmd:"" help:"Show the replicas of each ClickHouse shard that has several, and which one writes."`
	MoveWriter  shardMoveCommand   `cmd:"" name:"move-writer" help:"Let another replica of a shard write. Events wait in Kafka meanwhile, and none is lost or stored twice."`
	DropReplica shardRemoveCommand `cmd:"" name:"drop-replica" help:"Remove a replica that does not come back. Stop it first. All that counts as stored is on the others."`
}

// shardStores is what commands about shards connect to.
type shardStores struct {
	Process    processConfig     `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Postgres   postgres.Config   `embed:""`
}

// open calls fn with the replicas on record.
func (c *shardStores) open(ctx context.Context, fn func(*replica.Cluster) error) error {
	if err := validate(c.ClickHouse, c.Postgres); err != nil {
		return err
	}
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		cluster, err := replica.NewCluster(c.ClickHouse, replica.ClusterDeps{Postgres: pool, Log: c.Process.logger()})
		if err != nil {
			return err
		}
		return fn(cluster)
	})
}

type shardListCommand struct {
	Stores shardStores `embed:""`
}

// Run lists the replicas.
func (c *shardListCommand) Run(ctx context.Context) error {
	return c.Stores.open(ctx, func(cluster *replica.Cluster) error {
		all, err := cluster.List(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SHARD\tREPLICA\tROLE\tEPOCH\tLAG\t")
		for _, s := range all {
			role, epoch := "copies", "-"
			if s.Writes {
				role = "writes"
			}
			if s.Epoch > 0 {
				epoch = strconv.FormatInt(s.Epoch, 10)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", s.Shard, s.Name, role, epoch, s.Lag, s.Wrong)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print: %w", err)
		}
		return nil
	})
}

// oneShard names a shard.
type oneShard struct {
	Stores shardStores   `embed:""`
	Shard  uint16        `arg:"" help:"Id of the shard."`
	Wait   time.Duration `name:"wait" default:"5m" help:"How long to try. The command can be repeated: it goes on where it ended."`
}

// run repeats an operation on the shard until it succeeds.
func (c *oneShard) run(ctx context.Context, operate func(context.Context, *replica.Mover) (replica.Record, error)) error {
	return c.Stores.open(ctx, func(cluster *replica.Cluster) error {
		ctx, cancel := context.WithTimeout(ctx, c.Wait)
		defer cancel()
		var r replica.Record
		err := cluster.Until(ctx, c.Shard, func(what string) { cluster.Log.Info("waits", "shard", c.Shard, "waits_until", what) }, func(m *replica.Mover) (err error) {
			r, err = operate(ctx, m)
			return err
		})
		if err != nil {
			return err
		}
		cluster.Log.Info("done", slog.Int("shard", int(r.Shard)), slog.String("replica", r.Writer), slog.String("replicas", strings.Join(r.Replicas, ", ")), slog.Int64("epoch", r.Epoch))
		return nil
	})
}

type shardMoveCommand struct {
	Which   oneShard `embed:""`
	Replica string   `arg:"" help:"Name of the replica, as lodestone shard list shows it."`
}

// Run makes a replica the writer.
func (c *shardMoveCommand) Run(ctx context.Context) error {
	return c.Which.run(ctx, func(ctx context.Context, m *replica.Mover) (replica.Record, error) {
		return m.Move(ctx, c.Replica)
	})
}

type shardRemoveCommand struct {
	Which      oneShard `embed:""`
	Replica    string   `arg:"" optional:"" help:"Name of the replica, as lodestone shard list shows it."`
	Keep       string   `env:"-" help:"Remove all replicas but this one, after the writer of two or two of three were lost. What only the others had is lost, except for what Kafka still has. Needs --accept-loss."`
	AcceptLoss bool     `env:"-" help:"Confirm --keep."`
	Destroyed  []string `env:"-" help:"Names of replicas that never come back, for --keep: Keeper is not asked for their sessions. A server on this list that still runs can store events twice."`
}

func (c *shardRemoveCommand) check() error {
	switch {
	case c.Keep == "" && (c.AcceptLoss || len(c.Destroyed) > 0):
		return config.InvalidFlag("--keep", "is missing", "name the replica that is left")
	case c.Keep == "" && c.Replica == "":
		return config.Invalid("REPLICA", "is missing", "name the replica to remove")
	case c.Keep != "" && c.Replica != "":
		return config.InvalidFlag("--keep", "removes all replicas but one, and another one is named", "give one of both")
	case c.Keep != "" && !c.AcceptLoss:
		return config.InvalidFlag("--accept-loss", "is missing", "read \"After a majority is lost\" in docs/replicas.md first: events that only the others had are lost")
	case slices.Contains(c.Destroyed, c.Keep):
		return config.InvalidFlag("--destroyed", "has the replica of --keep", "name the others")
	}
	return nil
}

// Run removes a replica, or all but one.
func (c *shardRemoveCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Keep == "" {
		return c.Which.run(ctx, func(ctx context.Context, m *replica.Mover) (replica.Record, error) {
			return m.Drop(ctx, c.Replica)
		})
	}
	var inKeeper []string
	err := c.Which.run(ctx, func(ctx context.Context, m *replica.Mover) (replica.Record, error) {
		m.Destroyed = c.Destroyed
		r, left, err := m.Keep(ctx, c.Keep)
		inKeeper = append(inKeeper, left...)
		return r, err
	})
	for _, name := range inKeeper {
		fmt.Printf("Keeper still lists replica %s. Run on %s, once its session has ended: SYSTEM DROP REPLICA '%[1]s' FROM DATABASE lodestone\n", name, c.Keep)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Printf(afterLoss, c.Which.Shard, c.Keep)
	return err //nolint:wrapcheck // as other output
}

const afterLoss = `Replica %[2]s is the only one of shard %[1]d. Next:
1. Take the lost servers out of remote_servers of every server, and out of --clickhouse-shards of every process. Restart the processes.
2. If the shard had three replicas or more: stop the consumers, set the offsets of their group to the earliest ones, and start them.
3. Once lodestone_consumer_lag_records is 0: lodestone recount
4. lodestone verify
docs/replicas.md, "After a majority is lost", has the commands.
`
