package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"lodestone/ingest/replica"
	"lodestone/pkg/clickhouse"
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

// oneReplica names a replica.
type oneReplica struct {
	Stores  shardStores   `embed:""`
	Shard   uint16        `arg:"" help:"Id of the shard."`
	Replica string        `arg:"" help:"Name of the replica, as lodestone shard list shows it."`
	Wait    time.Duration `name:"wait" default:"5m" help:"How long to try. The command can be repeated: it goes on where it ended."`
}

// run repeats an operation on the shard until it succeeds.
func (c *oneReplica) run(ctx context.Context, operate func(context.Context, *replica.Mover) (replica.Record, error)) error {
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
	Which oneReplica `embed:""`
}

// Run makes a replica the writer.
func (c *shardMoveCommand) Run(ctx context.Context) error {
	return c.Which.run(ctx, func(ctx context.Context, m *replica.Mover) (replica.Record, error) {
		return m.Move(ctx, c.Which.Replica)
	})
}

type shardRemoveCommand struct {
	Which oneReplica `embed:""`
}

// Run removes a replica.
func (c *shardRemoveCommand) Run(ctx context.Context) error {
	return c.Which.run(ctx, func(ctx context.Context, m *replica.Mover) (replica.Record, error) {
		return m.Drop(ctx, c.Which.Replica)
	})
}
