package kafka_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) {
	test.Trust()
	enginetest.Main(m)
}

var topics = []string{event.Topic, event.LinkViewTopic, event.DeadLetterTopic}

// cluster returns a client of a cluster of the test's own.
func cluster(t *testing.T, options ...kfake.Opt) (kafka.Config, *kgo.Client) {
	t.Helper()
	c, err := kfake.NewCluster(options...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return connect(t, c.ListenAddrs())
}

func connect(t *testing.T, brokers []string) (kafka.Config, *kgo.Client) {
	t.Helper()
	k := kafka.Config{Brokers: brokers}
	cl, err := kgo.NewClient(k.Options(slog.New(slog.DiscardHandler))...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return k, cl
}

func create(t *testing.T, cl *kgo.Client, replication int16) {
	t.Helper()
	_, err := kafka.CreateTopics(t.Context(), cl, kafka.TopicConfig{Partitions: 4, Replication: replication})
	require.NoError(t, err)
}

func set(t *testing.T, cl *kgo.Client, topic, key, value string) {
	t.Helper()
	_, err := kadm.NewClient(cl).AlterTopicConfigs(t.Context(),
		[]kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}, topic)
	require.NoError(t, err)
}

func findings(t *testing.T, cl *kgo.Client, ledger kafka.PartitionLedger) (fatal, warnings []string) {
	t.Helper()
	found, err := kafka.Check(t.Context(), cl, ledger, topics...)
	require.NoError(t, err)
	for _, f := range found {
		require.NotEmpty(t, f.Remedy)
		require.Equal(t, f.Fatal, kafka.IsRefusal(f))
		name := f.Where + ": " + f.Setting
		if f.Fatal {
			fatal = append(fatal, name)
		} else {
			warnings = append(warnings, name)
		}
	}
	return fatal, warnings
}

func ledger(t *testing.T) kafka.Ledger {
	t.Helper()
	pool := enginetest.MigratedPostgres(t)
	return kafka.Ledger{Pool: pool}
}

func TestTopicsAsMadeHaveNoFindings(t *testing.T) {
	t.Parallel()
	_, cl := cluster(t, kfake.NumBrokers(1))
	create(t, cl, 1)
	fatal, warnings := findings(t, cl, ledger(t))
	require.Empty(t, fatal)
	require.Empty(t, warnings)
}

// Erased records leave Kafka in known time, whatever the brokers' default is. Topics that exist
// stay as they are.
func TestTopicsAreCreatedWithARetention(t *testing.T) {
	t.Parallel()
	_, cl := cluster(t, kfake.NumBrokers(1))
	create(t, cl, 1)
	require.Equal(t, "604800000", retention(t, cl, event.Topic))
	require.Equal(t, "604800000", retention(t, cl, event.LinkViewTopic))
	require.Equal(t, "7776000000", retention(t, cl, event.DeadLetterTopic))

	set(t, cl, event.Topic, "retention.ms", "2592000000")
	create(t, cl, 1)
	require.Equal(t, "2592000000", retention(t, cl, event.Topic))
}

// The receipt of an erasure has this time.
func TestHowLongTopicsKeepRecords(t *testing.T) {
	t.Parallel()
	_, cl := cluster(t, kfake.NumBrokers(1))
	create(t, cl, 1)
	longest, bounded, err := kafka.Retention(t.Context(), cl, event.Topic, event.DeadLetterTopic)
	require.NoError(t, err)
	require.True(t, bounded)
	require.GreaterOrEqual(t, longest, 90*24*time.Hour)
	for _, forever := range []string{"-1", "9223372036854775807",
		"9223372036854"} { // the last one is too long with the time of a segment
		set(t, cl, event.Topic, "retention.ms", forever)
		_, bounded, err := kafka.Retention(t.Context(), cl, event.Topic, event.DeadLetterTopic)
		require.NoError(t, err)
		require.False(t, bounded, forever)
	}
}

// retention returns the topic's own retention.ms, which is "" if the brokers' applies.
func retention(t *testing.T, cl *kgo.Client, topic string) string {
	t.Helper()
	all, err := kadm.NewClient(cl).DescribeTopicConfigs(t.Context(), topic)
	require.NoError(t, err)
	require.Len(t, all, 1)
	for _, c := range all[0].Configs {
		if c.Key == "retention.ms" && c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			return c.MaybeValue()
		}
	}
	return ""
}

func TestEachDangerousSettingIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		topic, key, value, want string
		fatal                   bool
	}{
		"compaction":          {event.Topic, "cleanup.policy", "compact", "cleanup.policy", true},
		"compaction and more": {event.LinkViewTopic, "cleanup.policy", "compact,delete", "cleanup.policy", true},
		"short retention":     {event.Topic, "retention.ms", "3600000", "retention.ms", false},
		"endless retention":   {event.LinkViewTopic, "retention.ms", "-1", "retention.ms", false},
		"small log":           {event.Topic, "retention.bytes", "1000000", "retention.bytes", false},
		"small messages":      {event.Topic, "max.message.bytes", "65536", "max.message.bytes", true},
		"acks impossible":     {event.Topic, "min.insync.replicas", "2", "min.insync.replicas", true},
		"collectors' clocks": {event.LinkViewTopic, "message.timestamp.type", "CreateTime",
			"message.timestamp.type", false},
		"dead letters that end":  {event.DeadLetterTopic, "retention.ms", "604800000", "retention.ms", false},
		"endless dead letters":   {event.DeadLetterTopic, "retention.ms", "-1", "retention.ms", false},
		"few dead letters":       {event.DeadLetterTopic, "retention.bytes", "1000000", "retention.bytes", false},
		"dead letters too small": {event.DeadLetterTopic, "max.message.bytes", "1048588", "max.message.bytes", false},
		"dead letters compacted": {event.DeadLetterTopic, "cleanup.policy", "compact", "cleanup.policy", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, cl := cluster(t, kfake.NumBrokers(1))
			create(t, cl, 1)
			set(t, cl, c.topic, c.key, c.value)
			fatal, warnings := findings(t, cl, nil)
			if c.fatal {
				require.Equal(t, []string{"topic " + c.topic + ": " + c.want}, fatal)
				require.Empty(t, warnings)
			} else {
				require.Equal(t, []string{"topic " + c.topic + ": " + c.want}, warnings)
				require.Empty(t, fatal)
			}
		})
	}
}

func TestCopiesOnSeveralBrokers(t *testing.T) {
	t.Parallel()
	const events = "topic lodestone.events: "
	for name, c := range map[string]struct {
		brokers     int
		replication int16
		key, value  string
		want        string // the finding about the events; "": none
	}{
		"as created by default": {brokers: 3, replication: -1},
		"five brokers":          {brokers: 5, replication: -1},
		"one copy":              {brokers: 3, replication: 1, want: "replication factor"},
		"two copies":            {brokers: 3, replication: 2, want: "replication factor"},
		"two brokers":           {brokers: 2, replication: -1, want: "replication factor"},
		"one in sync": {brokers: 3, replication: 3, key: "min.insync.replicas", value: "1",
			want: "min.insync.replicas"},
		"unclean election": {brokers: 3, replication: 3, key: "unclean.leader.election.enable", value: "true",
			want: "unclean.leader.election.enable"},
		"one broker": {brokers: 1, replication: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, cl := cluster(t, kfake.NumBrokers(c.brokers))
			create(t, cl, c.replication)
			if c.key != "" {
				set(t, cl, event.Topic, c.key, c.value)
			}
			fatal, warnings := findings(t, cl, nil)
			require.Empty(t, warnings)
			if c.want == "" {
				require.Empty(t, fatal)
				return
			}
			require.Contains(t, fatal, events+c.want)

			refusing, err := newGuard(k, prometheus.NewRegistry())
			require.NoError(t, err)
			err = refusing.Start(t.Context())
			require.True(t, kafka.IsRefusal(err))
			require.ErrorContains(t, err, "--kafka-accept-fewer-copies")
			require.NoError(t, refusing.Stop(t.Context()))

			k.AcceptFewerCopies = true
			metrics := prometheus.NewRegistry()
			accepting, err := newGuard(k, metrics)
			require.NoError(t, err)
			require.NoError(t, accepting.Start(t.Context()))
			require.InDelta(t, len(fatal), gauge(t, metrics, "lodestone_kafka_setting_warnings"), 0)
			require.NoError(t, accepting.Stop(t.Context()))
		})
	}
}

func TestBrokersWithoutTopicIDsAreRefused(t *testing.T) {
	t.Parallel()
	k, cl := cluster(t, kfake.NumBrokers(1))
	create(t, cl, 1)
	old, err := kgo.NewClient(append(k.Options(slog.New(slog.DiscardHandler)), kgo.MaxVersions(kversion.V2_7_0()))...)
	require.NoError(t, err)
	t.Cleanup(old.Close)
	fatal, _ := findings(t, old, nil)
	for _, topic := range topics {
		require.Contains(t, fatal, "topic "+topic+": its id")
	}
}

func TestPartitionsThatGrewAreReported(t *testing.T) {
	t.Parallel()
	_, cl := cluster(t, kfake.NumBrokers(1))
	requirePartitionsReported(t, cl)
}

func requirePartitionsReported(t *testing.T, cl *kgo.Client) {
	t.Helper()
	create(t, cl, 1)
	l := ledger(t)
	fatal, _ := findings(t, cl, l)
	require.Empty(t, fatal)
	_, err := kadm.NewClient(cl).UpdatePartitions(t.Context(), 6, event.Topic)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		fatal, warnings := findings(t, cl, l)
		return len(fatal) == 0 && len(warnings) == 1 && warnings[0] == "topic lodestone.events: number of partitions"
	}, enginetest.Timeout, 50*time.Millisecond)
	id, present, err := kafka.Topic(t.Context(), cl, event.Topic)
	require.NoError(t, err)
	n, err := l.Partitions(t.Context(), id, event.Topic, present)
	require.NoError(t, err)
	require.Equal(t, 4, n)

	// A topic that was deleted and created again is another one.
	_, err = kadm.NewClient(cl).DeleteTopics(t.Context(), event.Topic)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kafka.CreateTopics(context.Background(), cl, kafka.TopicConfig{Partitions: 2, Replication: 1})
		if err != nil {
			return false
		}
		_, n, err := kafka.Topic(context.Background(), cl, event.Topic)
		return err == nil && n == 2
	}, enginetest.Timeout, 50*time.Millisecond)
	fatal, _ = findings(t, cl, l)
	require.Empty(t, fatal)
}

// A collector whose clock is more than an hour ahead is not refused, and dates nothing.
func requireDatedByTheBroker(t *testing.T, cl *kgo.Client) {
	t.Helper()
	create(t, cl, 1)
	r := &kgo.Record{Topic: event.Topic, Value: []byte("ahead"), Timestamp: time.Now().Add(90 * time.Minute)}
	require.NoError(t, cl.ProduceSync(t.Context(), r).FirstErr())
	late, err := kadm.NewClient(cl).ListOffsetsAfterMilli(t.Context(),
		time.Now().Add(30*time.Minute).UnixMilli(), event.Topic)
	require.NoError(t, err)
	end, err := kadm.NewClient(cl).ListEndOffsets(t.Context(), event.Topic)
	require.NoError(t, err)
	require.Equal(t, end[event.Topic][r.Partition].Offset, late[event.Topic][r.Partition].Offset, "nothing is dated ahead")
}
