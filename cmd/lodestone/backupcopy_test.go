package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// backedUp is a server that is empty and may write backups to a directory.
func backedUp(t *testing.T, dir string) *engine.ClickHouse {
	t.Helper()
	server := engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: enginetest.Runtime(), Dir: enginetest.Dir(t), TCPPort: enginetest.FreePort(t),
		HTTPPort:    enginetest.FreePort(t),
		MemoryBytes: enginetest.ClickHouseMemory, Launcher: enginetest.Launcher(t),
		Installer: enginetest.Installer(t), Backups: dir,
	})
	enginetest.Run(t, server)
	return server
}

// stored returns how many events a server has, and a sum over what they are and where they were in
// Kafka.
func stored(t *testing.T, conn driver.Conn) (rows, sum uint64) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT count(), sum(sipHash64(event_id, kafka_topic_id, kafka_partition, kafka_offset)) FROM lodestone.events").Scan(
		&rows, &sum))
	return rows, sum
}

// The ClickHouse of a backup becomes a second copy of the events of an installation that runs on.
// Its consumers store what it lacks; then both have the same events, each once.
func TestABackupIsRestoredAsACopy(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	backups := enginetest.Dir(t)
	first, second := backedUp(t, backups), backedUp(t, backups)
	env := []string{"LODESTONE_KAFKA_BROKERS=" + strings.Join(broker.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t)}
	one := processes{t: t, dir: t.TempDir(), env: append(slices.Clone(env), "LODESTONE_CLICKHOUSE_URL="+first.URL())}
	two := processes{t: t, dir: t.TempDir(), env: append(slices.Clone(env), "LODESTONE_CLICKHOUSE_URL="+second.URL(),
		"LODESTONE_CLICKHOUSE_COPY=2")}
	one.run("migrate")
	conn := enginetest.Open(t, clickhouse.Config{URL: first.URL()})
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	produce := func(n int) {
		t.Helper()
		for range n {
			at := time.Now().UnixMilli()
			e := event.Event{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(),
				Type: event.PageViewed, CreatedAt: at, ReceivedAt: at}
			client.Produce(t.Context(), &kgo.Record{Topic: event.Topic, Key: e.AccessLinkID[:], Value: e.Append(nil)}, nil)
		}
		require.NoError(t, client.Flush(t.Context()))
	}
	await := func(conn driver.Conn, want uint64) {
		t.Helper()
		require.Eventually(t, func() bool {
			rows, _ := stored(t, conn)
			return rows >= want
		}, enginetest.Timeout, interval)
	}
	produce(100)
	consumer := one.serve("consumer")
	await(conn, 100)
	consumer.interrupt(enginetest.Timeout) // which commits
	place := filepath.Join(backups, "place")
	one.run("backup", place)
	one.serve("consumer")
	produce(50)
	await(conn, 150)

	refused := launch(t, one.dir, one.env, "restore", "copy", place)
	require.Equal(t, exitSettings, refused.wait(), refused.out)
	require.Contains(t, refused.out.String(),
		"--clickhouse-copy (LODESTONE_CLICKHOUSE_COPY) is 1, and copy 1 of the events is on record: give 2")
	printed := two.run("restore", "copy", place)
	require.Contains(t, printed, "records that its consumers read from Kafka: 50\n")
	require.Contains(t, printed, "of the group lodestone-copy-2: lodestone consumer --clickhouse-copy 2")
	copied := enginetest.Open(t, clickhouse.Config{URL: second.URL()})
	var shard uint16
	require.NoError(t, copied.QueryRow(t.Context(), "SELECT id FROM lodestone.shard").Scan(&shard))
	require.EqualValues(t, 1001, shard)
	rows, _ := stored(t, copied)
	require.EqualValues(t, 100, rows)
	again := launch(t, two.dir, append(slices.Clone(two.env), "LODESTONE_CLICKHOUSE_COPY=3"), "restore", "copy", place)
	require.NotZero(t, again.wait())
	require.Contains(t, again.out.String(), "a restore needs empty engines: ClickHouse has rows")

	two.serve("consumer")
	await(copied, 150)
	for _, conn := range []driver.Conn{conn, copied} {
		rows, sum := stored(t, conn)
		require.EqualValues(t, 150, rows)
		_, want := stored(t, copied)
		require.Equal(t, want, sum)
	}
	answer := two.run("verify")
	require.Contains(t, answer, "differences: 0")
	require.NotContains(t, answer, "restored to an older state")
}
