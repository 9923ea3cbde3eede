package consumer

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
)

// Two groups that store the same topic would both insert every block.
func TestASecondConsumerGroupIsRefused(t *testing.T) {
	t.Parallel()
	// A database of its own: the group is changed for all topics.
	r := newRigOn(t, newStackOf(t, enginetest.StackConfig{Partitions: 1}))
	blue := r.steady()
	stopBlue := r.consume(blue)
	green := blue
	green.Group = "green-" + uuid.NewString()
	refused := func(c Config) {
		t.Helper()
		second, err := New(c, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(),
			Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		err = second.Start(t.Context())
		require.True(t, config.IsInvalid(err), "%v", err)
		require.ErrorContains(t, err, "two groups would store every event twice")
	}
	refused(green)
	r.produce(0, r.events(100)...)
	r.awaitCommit(0, 100)
	r.requireStored(100)
	groups, err := kadm.NewClient(r.Client).DescribeGroups(t.Context(), green.Group)
	require.NoError(t, err)
	require.Empty(t, groups[green.Group].Members, "who is refused does not join")

	// As docs/operations.md says.
	stopBlue()
	const change = "UPDATE topic_groups SET consumer_group = 'green' WHERE copy = 1"
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	require.Contains(t, string(page), change+";")
	_, err = r.Postgres.Unscoped().Exec(t.Context(), strings.ReplaceAll(change, "green", green.Group))
	require.NoError(t, err)
	refused(blue)
	r.group = green.Group
	r.produce(0, r.events(50)...)
	r.consume(green) // it begins with the log, and recognises by their offsets what is stored
	r.awaitCommit(0, 150)
	r.requireStored(150)
	require.Empty(t, r.losses(0))
}

// A consumer of the group before may have been stopped for a while, and come back after the change.
func TestAConsumerWhoseGroupWasReplacedEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c, err := New(r.config(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	enginetest.Run(t, c)
	r.produce(0, r.events(10)...)
	r.awaitCommit(0, 10)
	_, err = r.Postgres.Unscoped().Exec(t.Context(),
		"UPDATE topic_groups SET consumer_group = 'other' WHERE topic_id = $1", r.TopicID)
	require.NoError(t, err)
	// It joins again.
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.UnknownMemberID, Count: 1})
	select {
	case err := <-c.Failed():
		require.True(t, config.IsInvalid(err), "%v", err)
	case <-time.After(waitLimit):
		require.Fail(t, "it goes on")
	}
}
