package main

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/engine/enginetest"
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
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
		"LODESTONE_KAFKA_PARTITIONS=6",
		"LODESTONE_CONSUMER_SESSION_TIMEOUT=6s",
		"LODESTONE_CONSUMER_INSERT_TIMEOUT=5s",
	}
	dir := t.TempDir()
	oneShot := func(args ...string) string {
		p := launch(t, dir, env, args...)
		require.Zero(t, p.wait(), "%s", p.out)
		return strings.TrimSpace(p.out.String())
	}
	// Two at once, and once more: each is harmless.
	first, second := launch(t, dir, env, "migrate"), launch(t, dir, env, "migrate")
	require.Zero(t, first.wait(), "%s", first.out)
	require.Zero(t, second.wait(), "%s", second.out)
	oneShot("migrate")
	account := oneShot("account", "create", "--name", "Test", "--plan", "team")
	_, key, found := strings.Cut(oneShot("key", "create", "--account", account), "key: ")
	require.True(t, found)

	address := func() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))) }
	serve := func(command string, more ...string) *program {
		admin := address()
		p := launch(t, dir, append(append(env, "LODESTONE_ADMIN_LISTEN="+admin), more...), command)
		require.Eventually(t, func() bool {
			status, _ := get(t, "http://"+admin+"/readyz", "")
			return status == http.StatusOK
		}, enginetest.Timeout, interval, "%s does not get ready: %s", command, p.out)
		return p
	}
	site, queries, events := address(), address(), address()
	serve("query", "LODESTONE_LISTEN="+queries)
	serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	// One description for clients, whichever process answers.
	_, spec := get(t, "http://"+site+"/api/v1/openapi.json", "")
	require.Contains(t, spec, `"operationId": "list-analytics-events"`)
	require.Contains(t, spec, `"operationId": "create-generic-link"`)
	serve("collector", "LODESTONE_COLLECTOR_LISTEN="+events)

	l := newLoad(t, client.New(client.Config{URL: "http://" + site, Key: key}), "http://"+events)
	l.start(4)
	one, two := serve("consumer"), serve("consumer")
	for range 2 {
		l.awaitAcked(4_000)
		one.kill()
		one = serve("consumer")
		l.awaitAcked(4_000)
		two.kill()
		two = serve("consumer")
	}
	l.awaitAcked(4_000)
	l.stop()
	l.requireAnswered("http://"+site, key)
	require.Contains(t, oneShot("verify"), "differences: 0")
	one.interrupt(enginetest.Timeout)
	two.interrupt(enginetest.Timeout)
}
