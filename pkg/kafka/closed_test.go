package kafka_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// A closed topic refuses records until it is opened. One that takes its place has its settings, and
// is closed at first. Processes may start meanwhile.
func TestAClosedTopicIsReplaced(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	options := kafka.Config{Brokers: cluster.ListenAddrs()}.Options(slog.New(slog.DiscardHandler))
	cl, err := kgo.NewClient(append(options, kgo.RecordRetries(0), kgo.MetadataMinAge(10*time.Millisecond))...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	write := func() error {
		cl.PurgeTopicsFromClient(event.Topic)
		return cl.ProduceSync(ctx, &kgo.Record{Topic: event.Topic, Value: []byte("x")}).FirstErr()
	}
	read := func(partitions int32, closed bool) kafka.TopicState {
		t.Helper()
		topic, err := kafka.ReadTopic(ctx, cl, event.Topic)
		require.NoError(t, err)
		require.Equal(t, partitions, topic.Partitions)
		require.Equal(t, closed, topic.Closed)
		return topic
	}
	require.False(t, read(0, false).Exists())
	_, err = kafka.CreateTopics(ctx, cl, kafka.TopicConfig{Partitions: 2, Replication: 1})
	require.NoError(t, err)
	bytes, retention := "2000000", "777000000"
	admin := kadm.NewClient(cl)
	_, err = admin.AlterTopicConfigs(ctx,
		[]kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &bytes},
			{Op: kadm.SetConfig, Name: "retention.ms", Value: &retention}}, event.Topic)
	require.NoError(t, err)
	setting := func(key string) string {
		all, err := admin.DescribeTopicConfigs(ctx, event.Topic)
		require.NoError(t, err)
		for _, c := range all[0].Configs {
			if c.Key == key {
				return c.MaybeValue()
			}
		}
		return ""
	}

	old := read(2, false)
	require.NoError(t, old.Close(ctx, cl))
	require.NoError(t, old.Refuses(ctx, options))
	require.ErrorIs(t, write(), kerr.MessageTooLarge)
	read(2, true)
	findings, err := kafka.Check(ctx, cl, nil, event.Topic)
	require.NoError(t, err)
	require.Len(t, findings, 1)
	require.False(t, findings[0].Fatal)
	require.Contains(t, findings[0].Error(), "closed by `lodestone repartition`")
	require.NoError(t, old.Open(ctx, cl))
	require.NoError(t, write())
	require.Equal(t, bytes, setting("max.message.bytes"))
	require.ErrorContains(t, old.Refuses(ctx, options), "cannot be closed")

	require.NoError(t, old.Close(ctx, cl))
	made, err := old.Recreate(ctx, cl, 5)
	require.NoError(t, err)
	require.NotEqual(t, old.ID, made.ID)
	require.Equal(t, made.ID, read(5, true).ID)
	require.ErrorIs(t, write(), kerr.MessageTooLarge)
	require.NoError(t, made.Open(ctx, cl))
	require.NoError(t, write())
	require.Equal(t, []string{bytes, retention}, []string{setting("max.message.bytes"), setting("retention.ms")})

	// Another process goes on behind one that was killed.
	require.NoError(t, made.Close(ctx, cl))
	require.NoError(t, read(5, true).Open(ctx, cl))
	require.Equal(t, "1048588", setting("max.message.bytes"))
	_, err = admin.DeleteTopics(ctx, event.Topic)
	require.NoError(t, err)
	made, err = kafka.TopicState{Name: event.Topic, ID: uuid.Nil}.Recreate(ctx, cl, 3)
	require.NoError(t, err)
	require.NoError(t, made.Open(ctx, cl))
	read(3, false)
	require.NoError(t, write())
	require.Equal(t, "604800000", setting("retention.ms"))
}
