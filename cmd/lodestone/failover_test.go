//go:build long

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/token"
)

// processesOn returns processes on shards of several servers.
func processesOn(t *testing.T, stack *enginetest.Stack, copies *enginetest.Copies) processes {
	t.Helper()
	return processes{t: t, dir: t.TempDir(), env: []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(stack.Kafka.Brokers, ","), "LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys, "LODESTONE_POSTGRES_URL=" + stack.PostgresURL,
		"LODESTONE_CLICKHOUSE_URL=" + copies.Config.URL, "LODESTONE_CLICKHOUSE_SHARDS=" + copies.Config.Shards,
	}}
}

// A consumer's process replaces a writer that is away, by itself, and the operator keeps what is left when no majority is.
func TestAProcessReplacesTheWriter(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	servers := copies.Servers[0]
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	p := processesOn(t, stack, copies)
	p.run("migrate")
	record := func() replica.Record {
		t.Helper()
		r, err := replica.NewLedger(stack.Postgres).Read(t.Context(), 1)
		require.NoError(t, err)
		return r
	}
	first := record().Writer
	var left []*enginetest.Copy
	for _, s := range servers {
		if s.Name != first {
			left = append(left, s)
		}
	}
	consumer := p.serve("consumer")
	for _, s := range servers {
		if s.Name == first {
			s.Cut()
		}
	}
	require.Eventually(t, func() bool { r := record(); return r.Ready && r.Writer != first }, enginetest.Timeout, interval, "%s", consumer.out)

	lost, kept := left[0].Name, left[1].Name
	drop := func(code int, args ...string) string {
		t.Helper()
		c := launch(t, p.dir, p.env, append([]string{"shard", "drop-replica", "1"}, args...)...)
		require.Equal(t, code, c.wait(), "%s", c.out)
		return c.out.String()
	}
	require.Contains(t, drop(2), "REPLICA")
	require.Contains(t, drop(2, "--keep", kept), "--accept-loss")
	require.Contains(t, drop(2, lost, "--keep", kept, "--accept-loss"), "give one of both")
	require.Contains(t, drop(2, lost, "--accept-loss"), "name the replica that is left")
	require.Contains(t, drop(2, "--keep", kept, "--accept-loss", "--destroyed", kept), "name the others")
	require.Contains(t, drop(1, "--keep", kept, "--accept-loss"), "replica "+lost+" answers: stop it first")
	left[0].Cut()
	require.Contains(t, drop(0, "--keep", kept, "--accept-loss"), "lodestone recount")
	require.Equal(t, []string{kept}, record().Replicas)
	require.True(t, record().Ready)
	require.Contains(t, drop(0, "--keep", kept, "--accept-loss"), "lodestone verify")
}
