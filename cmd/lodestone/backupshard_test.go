//go:build long

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// cluster is an installation of single processes on two shards of ClickHouse.
type cluster struct {
	processes
	site, queries, events string
	running               []*program // the consumer is the last one
}

func (c *cluster) start() {
	c.t.Helper()
	c.running = []*program{
		// before the others after a restore
		c.serve("crud", "LODESTONE_LISTEN="+c.site, "LODESTONE_QUERY_URL=http://"+c.queries),
		c.serve("query", "LODESTONE_LISTEN="+c.queries),
		c.serve("collector", "LODESTONE_COLLECTOR_LISTEN="+c.events),
		c.serve("consumer"),
	}
}

func (c *cluster) consumer() *program { return c.running[3] }

func (c *cluster) stop() {
	c.t.Helper()
	for _, p := range c.running {
		p.interrupt(enginetest.Timeout)
	}
}

// restartConsumer starts the consumer again, and waits until the databases have a higher number in
// common: it rises at each start.
func (c *cluster) restartConsumer(postgres string) {
	c.t.Helper()
	before := pulse(c.t, postgres)
	c.consumer().interrupt(enginetest.Timeout)
	c.running[3] = c.serve("consumer")
	require.Eventually(c.t, func() bool { return pulse(c.t, postgres) > before }, enginetest.Timeout, interval)
}

// pulse returns the number that Postgres has in common with ClickHouse.
func pulse(t *testing.T, url string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	err = conn.QueryRow(t.Context(), "SELECT number FROM store_pulse").Scan(&n)
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	return n
}

// requireEverything stops loads, and requires of the API and of the counters of links that all
// events are there, once.
func requireEverything(t *testing.T, loads []*load, url, key string, recount func()) {
	t.Helper()
	for _, l := range loads {
		l.stop()
	}
	for _, l := range loads {
		require.Eventually(t, func() bool { return l.total(url, key) >= l.acked.Load() }, enginetest.Timeout, interval)
	}
	recount()
	for _, l := range loads {
		l.requireAnswered(url, key)
	}
}

// copyDir copies a directory of an engine that does not run, with the owners of its files.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(to))
	out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// requireApart waits until a process says which database is older, by its metric and in its log; ""
// for none.
func requireApart(t *testing.T, p *program, admin, older, words string) {
	t.Helper()
	var metrics string
	require.Eventually(t, func() bool {
		_, metrics = get(t, "http://"+admin+"/metrics", "")
		found := 0
		for _, of := range []string{"postgres", "clickhouse", "none"} {
			value := " 0"
			if of == older {
				value = " 1"
			}
			if strings.Contains(metrics, `lodestone_stores_apart{older="`+of+`"}`+value) {
				found++
			}
		}
		return found == 3 && strings.Contains(p.out.String(), words)
	}, enginetest.Timeout, interval, "%s", metrics)
}

// Two shards are backed up and restored under load. Then one of them alone is put back to an older
// state: the consumer says which, and `lodestone restore align` lets it store again what this shard
// lacks, and nothing twice.
func TestBackupDrillOfTwoShards(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 4, Shards: shards})
	env := []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(stack.Kafka.Brokers, ","),
		"LODESTONE_CLICKHOUSE_URL=" + shards.Config.URL,
		"LODESTONE_CLICKHOUSE_SHARDS=" + shards.Config.Shards,
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
	}
	c := &cluster{
		processes: processes{t: t, dir: t.TempDir(),
			env: append(slices.Clone(env), "LODESTONE_POSTGRES_URL="+stack.PostgresURL)},
		site: freeAddress(t), queries: freeAddress(t), events: freeAddress(t),
	}
	key := c.key()
	c.start()
	var loads []*load // of a link each, and so of a partition each, which is on one of the shards
	for range 4 {
		l := newLoad(t, client.New(client.Config{URL: "http://" + c.site, Key: key}), "http://"+c.events)
		l.start(1)
		loads = append(loads, l)
	}
	more := func() {
		t.Helper()
		for _, l := range loads {
			l.awaitAcked(200)
		}
	}
	more()
	place := filepath.Join(shards.Backups, "place")
	c.run("backup", place)
	more()
	c.run("backup", place)
	require.Contains(t, c.run("backup", "check", place), "is complete")
	more()

	c.stop()
	for i := range shards.Servers {
		for _, name := range []string{"analytics", "lodestone_all", "lodestone"} {
			require.NoError(t, shards.Conn(t, i).Exec(t.Context(), "DROP DATABASE "+name+" SYNC"))
		}
	}
	restored := enginetest.Postgres(t)
	c.env = append(slices.Clone(env), "LODESTONE_POSTGRES_URL="+restored)
	require.Contains(t, c.run("restore", place), "lodestone restore resume")
	c.start()
	more()

	// Shard 2 alone goes back to an older state.
	c.stop()
	older := filepath.Join(enginetest.Dir(t), "older")
	require.NoError(t, shards.Servers[1].Stop(t.Context()))
	copyDir(t, shards.Dirs[1], older)
	require.NoError(t, shards.Servers[1].Start(t.Context()))
	c.start()
	more()
	c.restartConsumer(restored)
	c.restartConsumer(restored)
	more()
	c.stop()
	require.NoError(t, shards.Servers[1].Stop(t.Context()))
	copyDir(t, older, shards.Dirs[1])
	require.NoError(t, shards.Servers[1].Start(t.Context()))
	c.start()
	requireApart(t, c.consumer(), c.consumer().admin, "clickhouse", "ClickHouse (shard 2) was restored to an older state")
	refused := launch(t, c.dir, c.env, "restore", "align")
	require.NotZero(t, refused.wait())
	require.Contains(t, refused.out.String(), "stop them first")
	c.consumer().interrupt(enginetest.Timeout)
	require.Contains(t, c.run("restore", "align"), "Start the consumers")
	c.running[3] = c.serve("consumer")
	requireApart(t, c.consumer(), c.consumer().admin, "", "")
	more()
	requireEverything(t, loads, "http://"+c.site, key, func() { c.run("recount") })
	require.Contains(t, c.run("verify"), "differences: 0")
}

// One database of `lodestone up` is put back to an older state by other means than a restore, and
// the other one is not. It is noticed, and after `lodestone restore align` and a recount every
// event that was acknowledged is there, once.
func TestOneDatabaseIsOlder(t *testing.T) {
	t.Parallel()
	for store, words := range map[string]string{
		"clickhouse": "ClickHouse was restored to an older state", "postgres": "Postgres was restored to an older state",
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			u := newUp(t)
			u.more = []string{"--no-sample"}
			u.start()
			l := newLoad(t, client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]}),
				u.env["LODESTONE_COLLECTOR_URL"])
			l.start(2)
			l.awaitAcked(500)
			u.interrupt(enginetest.Timeout)
			dir, older := filepath.Join(u.dir, "data", store), filepath.Join(u.dir, "older")
			copyDir(t, dir, older)
			for last := int64(1); last <= 3; { // the number in common rises at each start
				u.start()
				l.awaitAcked(200)
				url := strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'")
				require.Eventually(t, func() bool { return pulse(t, url) > last }, enginetest.Timeout, interval)
				last = pulse(t, url)
				u.interrupt(enginetest.Timeout)
			}
			copyDir(t, older, dir)
			u.start()
			requireApart(t, u.program, strings.TrimPrefix(u.env["LODESTONE_ADMIN_URL"], "http://"), store, words)
			require.Contains(t, u.command("verify").out, words)
			in := u.command("restore", "align")
			require.NotZero(t, in.code, "it runs")
			u.interrupt(enginetest.Timeout)
			aligned := u.command("restore", "align")
			require.Zero(t, aligned.code, aligned.out)
			u.start()
			requireApart(t, u.program, strings.TrimPrefix(u.env["LODESTONE_ADMIN_URL"], "http://"), "", "")
			l.awaitAcked(200)
			requireEverything(t, []*load{l}, u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"], func() {
				answer := u.command("recount")
				require.Zero(t, answer.code, answer.out)
			})
			answer := u.command("verify")
			require.Zero(t, answer.code, answer.out)
			u.interrupt(enginetest.Timeout)
		})
	}
}
