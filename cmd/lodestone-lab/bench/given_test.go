package bench_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/bench"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/test/enginetest"
)

// TestBenchOnGivenEngines: what engines hold is lost only by --erase. With it each suite begins with nothing, and what is
// measured is kept, but for what the engines use.
func TestBenchOnGivenEngines(t *testing.T) {
	t.Parallel()
	store := enginetest.NewClickHouse(t, enginetest.Dir(t)) // the bench empties tables that tests share
	broker := enginetest.NewKafka(t, enginetest.Dir(t))
	var starts errgroup.Group
	for _, s := range []service.Service{store, broker} {
		starts.Go(func() error { return s.Start(t.Context()) })
		t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
	}
	require.NoError(t, starts.Wait())
	given := []string{
		"--kafka-brokers=" + strings.Join(broker.Brokers(), ","), "--clickhouse-url=" + store.URL(), "--postgres-url=" + enginetest.Postgres(t),
	}
	out, err := run(t, "lodestone", append([]string{"migrate"}, given...)...)
	require.NoError(t, err, out)
	holding := hold(t, broker.Brokers(), store.URL(), strings.TrimPrefix(given[2], "--postgres-url="))

	out, err = run(t, "lodestone-lab", append([]string{"bench", "consume", "--quick", "--runs=1"}, given...)...)
	require.Error(t, err)
	for _, setting := range []string{"--kafka-brokers", "--clickhouse-url", "--postgres-url", "--erase"} {
		require.Contains(t, out, setting)
	}
	require.NotContains(t, out, "starting the engines")
	require.Equal(t, map[string]bool{"Kafka": true, "ClickHouse": true, "Postgres": true}, holding())

	for _, suite := range []struct{ args, cases []string }{
		{[]string{"query", "--query-rows=20000", "--query-requests=1", "--query-asked=50"}, []string{"query/20000/first page", "query/20000/cursor"}},
		{[]string{"consume", "--consume-rows=2000", "--consume-partitions=4"}, []string{"consume/given/4"}},
	} {
		file := filepath.Join(t.TempDir(), "report.json")
		args := append([]string{"bench", suite.args[0], "--erase", "--quick", "--runs=1", "--json=" + file, "--dir=" + enginetest.Dir(t)}, suite.args[1:]...)
		out, err := run(t, "lodestone-lab", append(args, given...)...)
		require.NoError(t, err, out)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var report bench.Report
		require.NoError(t, json.Unmarshal(text, &report))
		requireSane(t, &report)
		for _, name := range suite.cases {
			require.NotNil(t, report.Result(name), name)
			require.Contains(t, out, "**`"+name+"`**")
		}
		for _, r := range report.Results {
			require.NotEmpty(t, r.Targets, r.Name)
			for _, v := range r.Targets {
				require.NotContains(t, v.What, "ClickHouse ≤", r.Name)
				require.NotContains(t, v.What, "client and server", r.Name)
			}
		}
		require.Equal(t, map[string]bool{"Kafka": false, "ClickHouse": false, "Postgres": false}, holding())
	}
}

// hold puts one thing into each engine, and returns what says whether they are there.
func hold(t *testing.T, brokers []string, storeURL, postgresURL string) func() map[string]bool {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Value: []byte("dear")}).FirstErr())
	store, err := clickhouse.Open(clickhouse.Config{URL: storeURL}, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.Exec(t.Context(), "INSERT INTO lodestone.link_views (referrer, created_at, received_at) VALUES ('dear', now(), now())"))
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: postgresURL, MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Unscoped().Exec(t.Context(), "INSERT INTO accounts (id, name, plan) VALUES (gen_random_uuid(), 'dear', 'team')")
	require.NoError(t, err)
	admin := kadm.NewClient(client)
	return func() map[string]bool {
		ends, err := admin.ListEndOffsets(t.Context(), event.Topic)
		require.NoError(t, err)
		require.NoError(t, ends.Error())
		records := int64(0)
		ends.Each(func(o kadm.ListedOffset) { records += o.Offset })
		var views, accounts uint64
		require.NoError(t, store.QueryRow(t.Context(), "SELECT count() FROM lodestone.link_views WHERE referrer = 'dear'").Scan(&views))
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM accounts WHERE name = 'dear'").Scan(&accounts))
		return map[string]bool{"Kafka": records == 1, "ClickHouse": views == 1, "Postgres": accounts == 1}
	}
}
