//go:build long

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// The processes by themselves, on the real Apache Kafka, with consumers that are killed.
func TestProcessesOnApacheKafka(t *testing.T) {
	t.Parallel()
	kafka := enginetest.NewApacheKafka(t, t.TempDir(), 1)
	require.NoError(t, kafka.Start(t.Context()))
	defer func() { require.NoError(t, kafka.Stop(t.Context())) }()
	env := []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(kafka.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.MigratedClickHouse(t).URL,
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
		"LODESTONE_KAFKA_PARTITIONS=6",
		"LODESTONE_CONSUMER_SESSION_TIMEOUT=6s",
		"LODESTONE_CONSUMER_INSERT_TIMEOUT=5s",
	}
	p := processes{t: t, dir: t.TempDir(), env: env}
	// Two at once, and once more: each is harmless. The server that tests share has its schema, since
	// the lock of migrations is that of one database.
	first, second := launch(t, p.dir, env, "migrate"), launch(t, p.dir, env, "migrate")
	require.Zero(t, first.wait(), "%s", first.out)
	require.Zero(t, second.wait(), "%s", second.out)
	p.run("migrate")
	key := p.key()

	site, queries, events := freeAddress(t), freeAddress(t), freeAddress(t)
	p.serve("query", "LODESTONE_LISTEN="+queries)
	p.serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	// One description for clients, whichever process answers.
	_, spec := get(t, "http://"+site+"/api/v1/openapi.json", "")
	require.Contains(t, spec, `"operationId": "list-analytics-events"`)
	require.Contains(t, spec, `"operationId": "create-generic-link"`)
	p.serve("collector", "LODESTONE_COLLECTOR_LISTEN="+events)

	l := newLoad(t, client.New(client.Config{URL: "http://" + site, Key: key}), "http://"+events)
	l.start(4)
	one, two := p.serve("consumer"), p.serve("consumer")
	for range 2 {
		l.awaitAcked(4_000)
		one.kill()
		one = p.serve("consumer")
		l.awaitAcked(4_000)
		two.kill()
		two = p.serve("consumer")
	}
	l.awaitAcked(4_000)
	l.stop()
	l.requireAnswered("http://"+site, key)
	require.Contains(t, p.run("verify"), "differences: 0")
	one.interrupt(enginetest.Timeout)
	two.interrupt(enginetest.Timeout)
}
