package main

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/token"
)

// processes are those of one installation, by themselves.
type processes struct {
	t   *testing.T
	dir string
	env []string
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
}

// run waits for a command that ends, and returns what it prints.
func (p processes) run(args ...string) string {
	p.t.Helper()
	c := launch(p.t, p.dir, p.env, args...)
	require.Zero(p.t, c.wait(), "%s", c.out)
	return strings.TrimSpace(c.out.String())
}

// key makes an account with a key.
func (p processes) key() string {
	p.t.Helper()
	account := p.run("account", "create", "--name", "Test", "--plan", "team")
	_, key, found := strings.Cut(p.run("key", "create", "--account", account), "key: ")
	require.True(p.t, found)
	return key
}

// serve starts a process and waits until it is ready.
func (p processes) serve(command string, more ...string) *program {
	p.t.Helper()
	admin := freeAddress(p.t)
	c := launch(p.t, p.dir, append(append(slices.Clone(p.env), "LODESTONE_ADMIN_LISTEN="+admin), more...), command)
	require.Eventually(p.t, func() bool {
		status, _ := get(p.t, "http://"+admin+"/readyz", "")
		return status == http.StatusOK
	}, enginetest.Timeout, interval, "%s does not get ready: %s", command, c.out)
	c.admin = admin
	return c
}

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
	// Two at once, and once more: each is harmless. The server that tests share has its schema, since the lock of migrations is that of one database.
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
