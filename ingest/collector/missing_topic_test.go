package collector_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/collector"
	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

// A collector with a spool starts while its topics are missing, as they are for a moment when they
// are recreated, and accepts events; they reach the topic when it is there.
func TestASpoolKeepsEventsUntilTheTopicsAreThere(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	log, metrics := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	away, err := producer.New(producerConfig(), producer.Deps{
		Kafka:  kafka.Config{Brokers: cluster.ListenAddrs()}.Options(log),
		Topics: []string{event.Topic}, StartAway: true, Log: log, Registerer: metrics,
	})
	require.NoError(t, err)
	enginetest.Run(t, away)
	disk, err := spool.New(spool.Config{Dir: t.TempDir(), MaxBytes: 64 << 20, SegmentBytes: 1 << 20,
		After: 100 * time.Millisecond, DrainBytes: 1 << 24},
		spool.Deps{Kafka: away, Log: log, Registerer: metrics})
	require.NoError(t, err)
	enginetest.Run(t, disk)
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Sink = disk })
	require.Equal(t, 202, s.post(t, s.event()).status)

	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	_, err = kafka.CreateTopics(t.Context(), client, kafka.TopicConfig{Partitions: 1, Replication: 1})
	require.NoError(t, err)
	s.cluster = cluster
	require.NotNil(t, s.stored(t))
}
