//go:build long

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/token"
)

// A shard of two replicas is backed up after another one writes than at first, and restored under load: to one address and then to both, and to both
// at once. The record of replicas begins again, and every event is on each replica, once.
func TestBackupDrillOfReplicas(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 2)
	servers := copies.Servers[0]
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, Copies: copies})
	common := []string{"LODESTONE_KAFKA_BROKERS=" + strings.Join(stack.Kafka.Brokers, ","), "LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys}
	both := []string{"LODESTONE_CLICKHOUSE_URL=" + copies.Config.URL, "LODESTONE_CLICKHOUSE_SHARDS=" + copies.Config.Shards}
	c := &cluster{processes: processes{t: t, dir: t.TempDir()}, site: freeAddress(t), queries: freeAddress(t), events: freeAddress(t)}
	use := func(clickhouse []string, postgres string) {
		c.env = append(slices.Concat(common, clickhouse), "LODESTONE_POSTGRES_URL="+postgres)
	}
	use(both, stack.PostgresURL)
	copies.Follow()
	c.run("migrate")
	key := c.key()
	c.start()
	l := newLoad(t, client.New(client.Config{URL: "http://" + c.site, Key: key}), "http://"+c.events)
	l.start(2)
	l.awaitAcked(200)
	c.run("shard", "move-writer", "1", "r1")
	l.awaitAcked(200)
	place := filepath.Join(copies.Backups, "place")
	c.run("backup", place)
	l.awaitAcked(200)
	c.run("backup", place, "--incremental")
	require.Contains(t, c.run("backup", "check", place), "is complete")
	l.awaitAcked(200)

	for _, first := range [][]string{{"LODESTONE_CLICKHOUSE_URL=" + servers[1].Proxied().URL}, both} {
		c.stop()
		for _, server := range servers {
			for _, name := range []string{"analytics", "lodestone_all", "lodestone"} {
				require.NoError(t, server.Conn().Exec(t.Context(), "DROP DATABASE IF EXISTS "+name+" SYNC"))
			}
		}
		restored := enginetest.Postgres(t)
		use(first, restored)
		require.Contains(t, c.run("restore", place), "lodestone restore resume")
		use(both, restored)
		c.run("migrate")
		replicas := c.run("shard", "list")
		require.Regexp(t, `1 +r0 +(writes|copies) `, replicas)
		require.Regexp(t, `1 +r1 +(writes|copies) `, replicas)
		require.Equal(t, 1, strings.Count(replicas, "writes"), replicas)
		c.run("restore", "align")
		c.start()
		l.awaitAcked(200)
	}
	requireEverything(t, []*load{l}, "http://"+c.site, key, func() { c.run("recount") })
	require.Contains(t, c.run("verify"), "differences: 0")
	requireCopied(t, servers[0].Conn(), servers[1].Conn())
}
