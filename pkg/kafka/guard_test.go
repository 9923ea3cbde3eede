package kafka_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func gauge(t *testing.T, metrics *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}

func newGuard(k kafka.Config, metrics prometheus.Registerer) (*kafka.Guard, error) {
	return kafka.NewGuard(kafka.GuardConfig{Kafka: k, Topics: topics},
		kafka.GuardDeps{Log: slog.New(slog.DiscardHandler), Registerer: metrics})
}

func TestAMissingTopicIsRefused(t *testing.T) {
	t.Parallel()
	k, cl := cluster(t, kfake.NumBrokers(1))
	fatal, _ := findings(t, cl, nil)
	require.Len(t, fatal, 3)
	guard, err := newGuard(k, prometheus.NewRegistry())
	require.NoError(t, err)
	err = guard.Start(t.Context())
	require.True(t, kafka.IsRefusal(err))
	require.ErrorContains(t, err, "topic lodestone.events: the topic does not exist: make it with `lodestone migrate`")
	require.NoError(t, guard.Stop(t.Context()))
}

// Whoever is started at the same time as `lodestone migrate` starts.
func TestTheGuardWaitsForTopicsThatAreJustMade(t *testing.T) {
	t.Parallel()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	asked := make(chan struct{}, 100)
	c.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		select {
		case asked <- struct{}{}:
		default:
		}
		return nil, nil, false
	})
	k, cl := connect(t, c.ListenAddrs())
	guard, err := newGuard(k, prometheus.NewRegistry())
	require.NoError(t, err)
	guard.WithLongTimeouts()
	started := make(chan error, 1)
	go func() { started <- guard.Start(t.Context()) }()
	for range 2 { // the first is answered when the second comes
		select {
		case <-asked:
		case err := <-started:
			require.Fail(t, "it did not ask again", "%v", err)
		}
	}
	create(t, cl, 1)
	require.NoError(t, <-started)
	require.NoError(t, guard.Stop(t.Context()))
}

func TestTheGuardStartsWithWarningsAndWithoutKafka(t *testing.T) {
	t.Parallel()
	k, cl := cluster(t, kfake.NumBrokers(1))
	create(t, cl, 1)
	set(t, cl, event.Topic, "retention.ms", "1000")
	metrics := prometheus.NewRegistry()
	guard, err := newGuard(k, metrics)
	require.NoError(t, err)
	require.NoError(t, guard.Start(t.Context()))
	require.NoError(t, guard.Stop(t.Context()))
	require.InDelta(t, 1, gauge(t, metrics, "lodestone_kafka_setting_warnings"), 0)

	away, err := newGuard(kafka.Config{Brokers: []string{"127.0.0.1:1"}}, prometheus.NewRegistry())
	require.NoError(t, err)
	require.NoError(t, away.Start(t.Context()))
	require.NoError(t, away.Stop(t.Context()))
}

// A topic that is being recreated, or that lost a setting, ends no process that runs.
func TestTheGuardEndsNoRunningProcessForAMissingTopic(t *testing.T) {
	t.Parallel()
	k, cl := cluster(t, kfake.NumBrokers(3))
	create(t, cl, -1)
	metrics := prometheus.NewRegistry()
	guard, err := newGuard(k, metrics)
	require.NoError(t, err)
	guard.Often()
	require.NoError(t, guard.Start(t.Context()))
	reports := func(name string, want float64) {
		t.Helper()
		require.Eventually(t, func() bool {
			select {
			case err := <-guard.Failed():
				require.NoError(t, err, "the process would end")
			default:
			}
			return gauge(t, metrics, name) == want
		}, enginetest.Timeout, 10*time.Millisecond, name)
	}
	_, err = kadm.NewClient(cl).DeleteTopics(t.Context(), event.Topic)
	require.NoError(t, err)
	reports("lodestone_kafka_missing_topics", 1)
	create(t, cl, 1)
	reports("lodestone_kafka_missing_topics", 0)
	reports("lodestone_kafka_setting_warnings", 1) // one copy now
	set(t, cl, event.Topic, "cleanup.policy", "compact")
	require.ErrorContains(t, <-guard.Failed(), "cleanup.policy")
	require.NoError(t, guard.Stop(t.Context()))
}

// A process that keeps elsewhere what it writes starts without its topics.
func TestTheGuardAllowsTopicsToBeMissing(t *testing.T) {
	t.Parallel()
	k, cl := cluster(t, kfake.NumBrokers(1))
	metrics := prometheus.NewRegistry()
	guard, err := kafka.NewGuard(kafka.GuardConfig{Kafka: k, Topics: topics, AllowMissing: true},
		kafka.GuardDeps{Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	require.NoError(t, err)
	require.NoError(t, guard.Start(t.Context()))
	require.InDelta(t, 3, gauge(t, metrics, "lodestone_kafka_missing_topics"), 0)
	create(t, cl, 1)
	require.Eventually(t, func() bool { return gauge(t, metrics, "lodestone_kafka_missing_topics") == 0 },
		enginetest.Timeout, 10*time.Millisecond)
	require.NoError(t, guard.Stop(t.Context()))
}
