package engine_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/kafka"
)

// dirLikeAnOption returns a directory that gives a cluster an id with a dash first, as one in 64 does: to Kafka's own programs
// that looks like an option.
func dirLikeAnOption(t *testing.T) string {
	t.Helper()
	parent := t.TempDir()
	for n := 0; ; n++ {
		dir := filepath.Join(parent, strconv.Itoa(n))
		if strings.HasPrefix(engine.ClusterID(dir), "-") {
			require.NoError(t, os.Mkdir(dir, 0o755))
			return dir
		}
	}
}

func TestKilledApacheKafkaComesBackWithItsRecords(t *testing.T) {
	t.Parallel()
	cluster := enginetest.NewApacheKafka(t, dirLikeAnOption(t), 1)
	startFor(t, cluster)
	before := cluster.Brokers()
	client := kafkaClient(t, kafka.Config{Brokers: before}, kgo.DefaultProduceTopic("events"))
	_, err := kadm.NewClient(client).CreateTopic(context.Background(), 1, -1, nil, "events")
	require.NoError(t, err)
	require.NoError(t, client.ProduceSync(context.Background(), kgo.StringRecord("one")).FirstErr())

	killed := cluster.PID(1)
	killPID(t, killed)
	eventually(t, func() bool { pid := cluster.PID(1); return pid != 0 && pid != killed }, "it is started again")
	require.Equal(t, before, cluster.Brokers())
	require.NoError(t, client.ProduceSync(context.Background(), kgo.StringRecord("two")).FirstErr())
	reader := kafkaClient(t, kafka.Config{Brokers: before}, kgo.ConsumeTopics("events"))
	var values []string
	for len(values) < 2 {
		fetches := reader.PollFetches(context.Background())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	require.Equal(t, []string{"one", "two"}, values)
}

// A node takes its ports seconds after they were chosen.
func TestApacheKafkaWhosePortSomebodyTakes(t *testing.T) {
	t.Parallel()
	var advertised []string
	advertise := func(_ int, listening string) (string, error) {
		if advertised = append(advertised, listening); len(advertised) == 1 {
			l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", listening)
			if err != nil {
				return "", err
			}
			t.Cleanup(func() { require.NoError(t, l.Close()) })
		}
		return listening, nil
	}
	cluster := engine.NewApacheKafka(engine.ApacheKafkaOptions{
		Runtime: enginetest.Runtime(), Dir: t.TempDir(), HeapMB: 384, Installer: enginetest.Installer(t),
		Listeners: []engine.KafkaListener{{Name: "OTHER", Advertise: advertise}},
	})
	startFor(t, cluster)
	require.Greater(t, len(advertised), 1)
	require.NoError(t, kafkaClient(t, kafka.Config{Brokers: advertised[len(advertised)-1:]}).Ping(t.Context()))
}
