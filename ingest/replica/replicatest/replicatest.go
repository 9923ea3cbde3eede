// Package replicatest lets tests store on servers that stand for the replicas of shards (enginetest.Copies), with the record of who writes.
package replicatest

import (
	"log/slog"
	"testing"
	"time"

	"lodestone/ingest/replica"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// Enrol records the replicas of a stack on Copies, as `lodestone migrate` does, and lets the stack use their writers.
func Enrol(t testing.TB, s *enginetest.Stack) *replica.Cluster {
	t.Helper()
	topology, err := clickhouse.NewTopology(s.ClickHouse)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &replica.Cluster{Ledger: replica.NewLedger(s.Postgres), Topology: topology, Log: slog.New(slog.DiscardHandler)}
	for range 2 { // again changes nothing
		if err := cluster.Enrol(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.ClickHouse.Writers = cluster
	s.Conn = enginetest.Open(t, s.ClickHouse)
	return cluster
}

// Move lets another replica of a shard write.
func Move(t testing.TB, c *replica.Cluster, shard uint16, name string) {
	t.Helper()
	operate(t, c, shard, func(m *replica.Mover) error {
		_, err := m.Move(t.Context(), name)
		return err
	})
}

// Drop removes a replica of a shard.
func Drop(t testing.TB, c *replica.Cluster, shard uint16, name string) {
	t.Helper()
	operate(t, c, shard, func(m *replica.Mover) error {
		_, err := m.Drop(t.Context(), name)
		return err
	})
}

func operate(t testing.TB, c *replica.Cluster, shard uint16, fn func(*replica.Mover) error) {
	t.Helper()
	m, closeAll, err := c.Mover(t.Context(), shard)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	end := time.After(enginetest.Timeout)
	again := time.NewTicker(operatePause)
	defer again.Stop()
	for {
		err := fn(m)
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-end:
			t.Fatal(err)
		}
	}
}

const operatePause = 50 * time.Millisecond
