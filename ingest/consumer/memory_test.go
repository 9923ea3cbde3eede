//go:build long

package consumer

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

const (
	memoryPartitions = 12
	memoryRecords    = 15_000 // in each partition
)

// What the process of TestMemoryWhileClickHouseIsAway is to use.
const (
	brokerVariable     = "LODESTONE_TEST_BROKER"
	postgresVariable   = "LODESTONE_TEST_POSTGRES"
	clickhouseVariable = "LODESTONE_TEST_CLICKHOUSE"
)

// A consumer of 12 partitions, their windows of repeats full, whose ClickHouse is away while there
// is more to read than it may hold. Kafka is in this process, so the consumer is in another.
func TestMemoryWhileClickHouseIsAway(t *testing.T) {
	t.Parallel()
	if broker := os.Getenv(brokerVariable); broker != "" {
		fillUp(t, broker)
		return
	}
	r := newRig(t, memoryPartitions)
	for p := range int32(memoryPartitions) {
		records := make([]*kgo.Record, memoryRecords)
		for i := range records {
			e := r.event(i)
			e.UserAgent = []byte(
				"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36")
			records[i] = &kgo.Record{Topic: event.Topic, Partition: p, Value: e.Append(nil)}
		}
		require.NoError(t, r.Client.ProduceSync(t.Context(), records...).FirstErr())
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), brokerVariable+"="+strings.Join(r.Kafka.Brokers, ","),
		postgresVariable+"="+r.PostgresURL, clickhouseVariable+"="+r.ClickHouse.URL)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS")
	t.Logf("%s", output)
}

func fillUp(t *testing.T, broker string) {
	t.Helper()
	windows := make([]*stream.Window, memoryPartitions)
	id := stream.Identity{Link: uuid.New()}
	for i := range windows {
		windows[i] = stream.NewWindow(stream.RepeatWindow)
		for offset := range int64(2 * stream.RepeatWindow) {
			id.Event = uuid.New()
			windows[i].Repeats(id, offset)
		}
	}
	cfg := (&rig{group: "memory"}).config()
	cfg.BufferBytes, cfg.QueueBytes = 64<<20, 4<<20
	CollectEagerly(cfg)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: os.Getenv(postgresVariable), MaxConns: 4})
	require.NoError(t, err)
	defer pool.Close()
	store := newGate(t, clickhouse.Config{URL: os.Getenv(clickhouseVariable)})
	c, err := New(cfg, Deps{Kafka: kafka.Config{Brokers: strings.Split(broker, ",")}, ClickHouse: store.config,
		Postgres: pool, Log: testLog(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context()))
	store.close()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		ready := 0 // partitions that are paused, or read to their end
		for _, w := range c.partitions {
			w.queue.mu.Lock()
			if n := len(w.queue.records); w.queue.paused || n > 0 && w.queue.records[n-1].Offset == memoryRecords-1 {
				ready++
			}
			w.queue.mu.Unlock()
		}
		return ready == memoryPartitions
	}, waitLimit, 20*time.Millisecond)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d MiB from the system, %d MiB of the buffer", m.Sys>>20, c.buffer.used.Load()>>20)
	require.LessOrEqual(t, m.Sys, uint64(250<<20), "all that was ever taken from the system")
	require.NoError(t, c.Stop(context.Background()))
	runtime.KeepAlive(windows)
}
