//go:build long

package apachekafka_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/engine"
	"lodestone/pkg/test/apachekafka"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func start(t *testing.T, c apachekafka.Config) *apachekafka.Cluster {
	t.Helper()
	c.Runtime, c.HeapMB, c.Installer = enginetest.Runtime(), 384, enginetest.Installer(t)
	cluster := apachekafka.New(c)
	require.NoError(t, cluster.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, cluster.Stop(context.Background())) })
	return cluster
}

func client(t *testing.T, brokers []string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append(options, kgo.SeedBrokers(brokers...))...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// dirLikeAnOption returns a directory that gives a cluster an id with a dash first, as one in 64
// does: to Kafka's own programs that looks like an option.
func dirLikeAnOption(t *testing.T) string {
	t.Helper()
	parent := t.TempDir()
	for n := 0; ; n++ {
		dir := filepath.Join(parent, strconv.Itoa(n))
		if strings.HasPrefix(apachekafka.ClusterID(dir), "-") {
			require.NoError(t, os.Mkdir(dir, 0o755))
			return dir
		}
	}
}

func TestKilledNodeComesBackWithItsRecords(t *testing.T) {
	t.Parallel()
	cluster := start(t, apachekafka.Config{Dir: dirLikeAnOption(t)})
	before := cluster.Brokers()
	writer := client(t, before, kgo.DefaultProduceTopic("events"))
	_, err := kadm.NewClient(writer).CreateTopic(t.Context(), 1, -1, nil, "events")
	require.NoError(t, err)
	require.NoError(t, writer.ProduceSync(t.Context(), kgo.StringRecord("one")).FirstErr())

	killed := cluster.PID(1)
	require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
	require.Eventually(t, func() bool { pid := cluster.PID(1); return pid != 0 && pid != killed },
		enginetest.Timeout, 10*time.Millisecond)
	require.Equal(t, before, cluster.Brokers())
	require.NoError(t, writer.ProduceSync(t.Context(), kgo.StringRecord("two")).FirstErr())
	reader := client(t, before, kgo.ConsumeTopics("events"))
	var values []string
	for len(values) < 2 {
		fetches := reader.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	require.Equal(t, []string{"one", "two"}, values)
}

// A node takes its ports seconds after they were chosen.
func TestPortTakenByAnotherProcess(t *testing.T) {
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
	start(t, apachekafka.Config{Dir: t.TempDir(),
		Listeners: []apachekafka.Listener{{Name: "OTHER", Advertise: advertise}}})
	require.Greater(t, len(advertised), 1)
	require.NoError(t, client(t, advertised[len(advertised)-1:]).Ping(t.Context()))
}

// Whatever answers on a broker's port while its Java machine is still starting is not ready for it.
func TestAnotherKafkaIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	other := engine.NewKafka(engine.KafkaConfig{Runtime: enginetest.Runtime(), Dir: t.TempDir()})
	require.NoError(t, other.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, other.Stop(context.Background())) })
	ours := apachekafka.New(apachekafka.Config{Dir: t.TempDir()})
	require.ErrorContains(t, ours.Probe(t.Context(), other.Brokers()[0]), "another Kafka")
}
