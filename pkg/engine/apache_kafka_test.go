package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/engine/enginetest"
)

func TestKilledApacheKafkaComesBackWithItsRecords(t *testing.T) {
	t.Parallel()
	cluster := enginetest.NewApacheKafka(t, t.TempDir(), 1)
	startFor(t, cluster)
	before := cluster.Brokers()
	client := kafkaClient(t, before, kgo.DefaultProduceTopic("events"))
	_, err := kadm.NewClient(client).CreateTopic(context.Background(), 1, -1, nil, "events")
	require.NoError(t, err)
	require.NoError(t, client.ProduceSync(context.Background(), kgo.StringRecord("one")).FirstErr())

	killed := cluster.PID(1)
	killPID(t, killed)
	eventually(t, func() bool { pid := cluster.PID(1); return pid != 0 && pid != killed }, "it is started again")
	require.Equal(t, before, cluster.Brokers())
	require.NoError(t, client.ProduceSync(context.Background(), kgo.StringRecord("two")).FirstErr())
	reader := kafkaClient(t, before, kgo.ConsumeTopics("events"))
	var values []string
	for len(values) < 2 {
		fetches := reader.PollFetches(context.Background())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	require.Equal(t, []string{"one", "two"}, values)
}
