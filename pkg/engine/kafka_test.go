package engine_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/engine"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func kafkaClient(t *testing.T, c kafka.Config, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(append(options, c.Options(enginetest.Runtime().Log)...),
		kgo.MetadataMinAge(100*time.Millisecond))...)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func TestAcknowledgedRecordsSurviveTheKilledProcess(t *testing.T) {
	t.Parallel()
	dir := enginetest.Dir(t)
	process, at := up(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := kafkaClient(t, at.Kafka, kgo.DefaultProduceTopic("events"),
		kgo.DisableIdempotentWrite(), kgo.RecordRetries(0))
	_, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, nil, "events")
	require.NoError(t, err)
	acknowledged := make(chan int, 100_000)
	go func() {
		defer close(acknowledged)
		for n := 0; ctx.Err() == nil; n++ {
			r := &kgo.Record{Value: []byte(strconv.Itoa(n))}
			if err := client.ProduceSync(ctx, r).FirstErr(); err != nil {
				return
			}
			acknowledged <- n
		}
	}()
	for range 200 {
		<-acknowledged
	}
	kill(t, process) // in the middle of produces
	cancel()
	client.Close() // gives up the record in flight
	last := 199
	for n := range acknowledged {
		last = n
	}

	_, again := up(t, dir)
	require.Equal(t, at.Kafka, again.Kafka, "the same port")
	reader := kafkaClient(t, again.Kafka, kgo.ConsumeTopics("events"))
	ends, err := kadm.NewClient(reader).ListEndOffsets(context.Background(), "events")
	require.NoError(t, err)
	end, ok := ends.Lookup("events", 0)
	require.True(t, ok)
	require.GreaterOrEqual(t, end.Offset, int64(last+1))
	require.LessOrEqual(t, end.Offset, int64(last+2),
		"nothing twice: one may have been stored without its acknowledgement")
	next := 0
	for int64(next) < end.Offset {
		fetches := reader.PollFetches(context.Background())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			require.Equal(t, strconv.Itoa(next), string(r.Value))
			require.EqualValues(t, next, r.Offset)
			next++
		})
	}
}

func TestRetentionWorksAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	options := engine.KafkaConfig{
		Runtime: enginetest.Runtime(), Dir: dir, NoSync: true,
		SegmentBytes: 64 << 10, RetentionBytes: 256 << 10, RetentionInterval: 20 * time.Millisecond,
	}
	first := engine.NewKafka(options)
	require.NoError(t, first.Start(context.Background()))
	admin := kadm.NewClient(kafkaClient(t, first.Config()))
	_, err := admin.CreateTopic(context.Background(), 1, 1, nil, "events")
	require.NoError(t, err)
	require.NoError(t, first.Stop(context.Background()))

	second := engine.NewKafka(options)
	startFor(t, second)
	client := kafkaClient(t, second.Config(), kgo.DefaultProduceTopic("events"),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	for range 100 {
		require.NoError(t, client.ProduceSync(context.Background(), &kgo.Record{Value: make([]byte, 10<<10)}).FirstErr())
	}
	eventually(t, func() bool {
		starts, err := kadm.NewClient(client).ListStartOffsets(context.Background(), "events")
		start, ok := starts.Lookup("events", 0)
		return err == nil && ok && start.Offset > 50
	}, "old records go")
}

func TestKafkaDirectoryIsForOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startFor(t, enginetest.NewKafka(t, dir))
	err := enginetest.NewKafka(t, dir).Start(context.Background())
	require.ErrorIs(t, err, engine.ErrInUse)
}

func TestTakenPortIsLeftToItsOwner(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	taken := l.Addr().(*net.TCPAddr).Port
	k := engine.NewKafka(engine.KafkaConfig{Runtime: enginetest.Runtime(),
		Dir: filepath.Join(t.TempDir(), "new"), Port: taken, NoSync: true})
	startFor(t, k)
	require.NotEqual(t, fmt.Sprintf("127.0.0.1:%d", taken), k.Brokers()[0])
}

func TestKafkaAsksForItsPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	options := engine.KafkaConfig{Runtime: enginetest.Runtime(), Dir: dir,
		Port: enginetest.FreePort(t), NoSync: true, Login: true}
	first := engine.NewKafka(options)
	require.NoError(t, first.Start(context.Background()))
	with := first.Config()
	_, err := kadm.NewClient(kafkaClient(t, with)).CreateTopic(t.Context(), 1, 1, nil, "events")
	require.NoError(t, err)
	refuses := func() {
		t.Helper()
		wrong := with
		wrong.Password = "a wrong one"
		plain := with
		plain.Mechanism = "plain"
		for _, c := range []kafka.Config{{Brokers: with.Brokers}, wrong, plain} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // clients try again for longer
			_, err := kadm.NewClient(kafkaClient(t, c, kgo.RequestRetries(0))).ListTopics(ctx)
			cancel()
			require.Error(t, err)
		}
	}
	refuses()
	info, err := os.Stat(filepath.Join(dir, "passwords.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	// Who has the password cannot change it for the next start.
	_, err = kadm.NewClient(kafkaClient(t, with)).AlterUserSCRAMs(t.Context(), nil,
		[]kadm.UpsertSCRAM{{User: with.User, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: "another"}})
	require.NoError(t, err)
	require.NoError(t, first.Stop(context.Background()))
	second := engine.NewKafka(options)
	startFor(t, second)
	require.Equal(t, with, second.Config())
	topics, err := kadm.NewClient(kafkaClient(t, with)).ListTopics(t.Context())
	require.NoError(t, err)
	require.True(t, topics.Has("events"))
	refuses()
}

// Kafka's own tools end with an exception on an answer without a list: of replicas
// (DescribeTopicPartitions), of a topic's settings (CreateTopics from version 5 on), of quotas.
func TestKafkaOffersNoRequestThatItAnswersInPart(t *testing.T) {
	t.Parallel()
	k := enginetest.NewKafka(t, t.TempDir())
	startFor(t, k)
	versions, err := kadm.NewClient(kafkaClient(t, k.Config())).ApiVersions(t.Context())
	require.NoError(t, err)
	for _, broker := range versions.Sorted() {
		for _, key := range []kmsg.Key{kmsg.DescribeTopicPartitions, kmsg.DescribeClientQuotas} {
			_, _, offered := broker.KeyVersions(key.Int16())
			require.False(t, offered, key.Name())
		}
		_, newest, offered := broker.KeyVersions(kmsg.CreateTopics.Int16())
		require.True(t, offered)
		require.Equal(t, int16(4), newest)
		_, newest, offered = broker.KeyVersions(0)
		require.True(t, offered)
		require.GreaterOrEqual(t, newest, int16(13), "produce requests are those that kfake knows")
	}
}

// The directory of a version before brokers asked for a password has none.
func TestKafkaOfAnEarlierVersionGetsAPassword(t *testing.T) {
	t.Parallel()
	options := engine.KafkaConfig{Runtime: enginetest.Runtime(), Dir: t.TempDir(),
		Port: enginetest.FreePort(t), NoSync: true}
	before := engine.NewKafka(options)
	require.NoError(t, before.Start(context.Background()))
	_, err := kadm.NewClient(kafkaClient(t, before.Config())).CreateTopic(t.Context(), 1, 1, nil, "events")
	require.NoError(t, err)
	require.NoError(t, before.Stop(context.Background()))

	options.Login = true
	after := engine.NewKafka(options)
	startFor(t, after)
	require.NotEmpty(t, after.Config().Password)
	topics, err := kadm.NewClient(kafkaClient(t, after.Config())).ListTopics(t.Context())
	require.NoError(t, err)
	require.True(t, topics.Has("events"))
}
