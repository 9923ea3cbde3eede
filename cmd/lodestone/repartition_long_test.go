//go:build long

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/client"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// The commands of a section of docs/operations.md give the topics more partitions while events are
// sent all the time, on a Kafka of its own. Before, the same command is interrupted once, which
// changes nothing, and killed once. Each acknowledged event is stored once, also one that its
// sender repeats afterwards.
func TestATopicWithMorePartitions(t *testing.T) {
	t.Parallel()
	commands := commandsOf(t, "docs/operations.md", "A topic with more partitions")
	require.Len(t, commands, 2)
	broker := enginetest.NewApacheKafka(t, t.TempDir(), 1)
	require.NoError(t, broker.Start(t.Context()))
	defer func() { require.NoError(t, broker.Stop(t.Context())) }()
	p := processes{t: t, dir: t.TempDir(), env: []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(broker.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.EmptyClickHouse(t).URL,
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
	}}
	p.run("migrate")
	kafkaClient, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...))
	require.NoError(t, err)
	defer kafkaClient.Close()
	before := requireTopics(t, kafkaClient, 24)

	key := p.key()
	site, queries := freeAddress(t), freeAddress(t)
	p.serve("query", "LODESTONE_LISTEN="+queries)
	p.serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	var collectors []*program
	var loads []*load
	for range 2 { // of the second, no one sends events while the topics are replaced
		events := freeAddress(t)
		collectors = append(collectors, p.serve("collector", "LODESTONE_COLLECTOR_LISTEN="+events,
			"LODESTONE_SPOOL_DIR="+t.TempDir(), "LODESTONE_SPOOL_AFTER=300ms"))
		loads = append(loads, newLoad(t, client.New(client.Config{URL: "http://" + site, Key: key}), "http://"+events))
	}
	p.serve("consumer")
	p.serve("consumer")
	repeated := repeatedBatch(t, loads[1])
	require.True(t, loads[1].post(http.DefaultClient, repeated, repeatedEvents))
	loads[1].acked.Add(repeatedEvents)
	l := loads[0]
	// without, most of the test's time is that of storing
	l.pause, loads[1].pause = 50*time.Millisecond, 50*time.Millisecond
	l.start(4)
	l.awaitAcked(2_000)

	closes := "the topic is closed"
	first := launchScript(t, p, commands[0])
	first.awaitPrinted(closes)
	l.awaitAcked(1_000)
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGINT))
	require.NotZero(t, first.wait())
	require.Equal(t, before, requireTopics(t, kafkaClient, 24))
	l.awaitAcked(1_000)

	second := launchScript(t, p, commands[0])
	second.awaitPrinted(closes)
	l.awaitAcked(1_000)
	second.kill()
	l.awaitAcked(1_000)

	third := launchScript(t, p, commands[0])
	for _, step := range []string{closes, "every record of the topic is stored", "the topic is replaced",
		"changed the number of partitions of the topics of events"} {
		third.awaitPrinted(step)
		l.awaitAcked(1_000)
	}
	require.Zero(t, third.wait())
	after := requireTopics(t, kafkaClient, 48)
	for i := range before {
		require.NotEqual(t, before[i], after[i])
	}
	require.True(t, loads[1].post(http.DefaultClient, repeated, repeatedEvents), "its sender did not get the answer")
	loads[1].start(2)
	loads[1].awaitAcked(500)
	for _, l := range loads {
		l.stop()
	}
	require.Positive(t, metric(t, collectors[0].admin, "lodestone_spool_spooled_records_total"))
	for i, l := range loads {
		require.Eventually(t, func() bool { return metric(t, collectors[i].admin, "lodestone_spool_records") == 0 },
			enginetest.Timeout, interval)
		require.Zero(t, metric(t, collectors[i].admin, `lodestone_collector_requests_total{status="503"}`),
			"a request was refused")
		l.requireAnswered("http://"+site, key)
	}
	last := launchScript(t, p, commands[1])
	require.Zero(t, last.wait())
	require.Contains(t, last.out.String(), "differences: 0")
}

// repeatedEvents is how many events repeatedBatch has.
const repeatedEvents = 20

func repeatedBatch(t *testing.T, l *load) []byte {
	t.Helper()
	batch := make([]map[string]any, repeatedEvents)
	for i := range batch {
		batch[i] = map[string]any{"token": l.token, "event_type": "page_viewed", "event_id": uuid.NewString(),
			"event_data": map[string]int{"page": 1}}
	}
	body, err := json.Marshal(batch)
	require.NoError(t, err)
	return body
}

// commandsOf returns the commands of a section of a page, a block each.
func commandsOf(t *testing.T, page, heading string) (commands []string) {
	t.Helper()
	root, err := enginetest.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, b := range blocksOf(page, section) {
		commands = append(commands, b.text)
	}
	return commands
}

// launchScript starts the commands of a page in a shell that has the program on its path. The
// shell becomes the last command.
func launchScript(t *testing.T, p processes, commands string) *program {
	t.Helper()
	shell, err := exec.LookPath("bash")
	require.NoError(t, err)
	env := append(slices.Clone(p.env), "PATH="+binaries(t)+":"+os.Getenv("PATH"))
	return launchFile(t, shell, p.dir, env, "-euo", "pipefail", "-c", "exec "+strings.TrimSpace(commands))
}

func (p *program) awaitPrinted(text string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return strings.Contains(p.out.String(), text) },
		enginetest.Timeout, interval, "%s", p.out)
}

// requireTopics returns the ids of the topics of events, which have so many partitions.
func requireTopics(t *testing.T, cl *kgo.Client, partitions int) (ids []uuid.UUID) {
	t.Helper()
	for _, name := range kafka.KeyedTopics() {
		id, n, err := kafka.Topic(t.Context(), cl, name)
		require.NoError(t, err)
		require.Equal(t, partitions, n)
		ids = append(ids, id)
	}
	return ids
}
