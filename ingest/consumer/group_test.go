package consumer

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/logbook"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
)

// Two groups that store the same topic would both insert every block.
func TestASecondConsumerGroupIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	blue := r.steady()
	stopBlue := r.consume(blue)
	green := blue
	green.Group = "green-" + uuid.NewString()
	refused := func(c Config) {
		t.Helper()
		second, err := New(c, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(), Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		err = second.Start(t.Context())
		require.True(t, config.IsInvalid(err), "%v", err)
		require.ErrorContains(t, err, "lodestone consumer-group hand-over --to "+c.Group)
	}
	refused(green)
	groups, err := kadm.NewClient(r.Client).DescribeGroups(t.Context(), green.Group)
	require.NoError(t, err)
	require.Empty(t, groups[green.Group].Members, "who is refused does not join")
	r.produce(0, r.events(100)...)
	r.awaitCommit(0, 100)
	r.requireStored(100)

	l := logbook.New(r.Postgres)
	require.ErrorContains(t, l.HandOver(t.Context(), r.Client, green.Group), "consumer group "+blue.Group+" is in use")
	refused(green)

	stopBlue()
	require.NoError(t, l.HandOver(t.Context(), r.Client, green.Group))
	owners, err := l.Owners(t.Context(), r.Client)
	require.NoError(t, err)
	for _, o := range owners {
		require.Equal(t, green.Group, o.Group)
	}
	refused(blue)
	r.group = green.Group
	next, _ := r.committed(0)
	require.Equal(t, int64(100), next, "the other group goes on where the first one ended")
	r.consume(green)
	r.produce(0, r.events(50)...)
	r.awaitCommit(0, 150)
	r.requireStored(150)
}

// A consumer of the group before may have been stopped for a while, and come back after the hand-over.
func TestAConsumerWhoseGroupWasReplacedEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c, err := New(r.config(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	enginetest.Run(t, c)
	r.produce(0, r.events(10)...)
	r.awaitCommit(0, 10)
	_, err = r.Postgres.Unscoped().Exec(t.Context(), "UPDATE topic_groups SET consumer_group = 'other' WHERE topic_id = $1", r.TopicID)
	require.NoError(t, err)
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.UnknownMemberID, Count: 1}) // it joins again
	select {
	case err := <-c.Failed():
		require.True(t, config.IsInvalid(err), "%v", err)
	case <-time.After(waitLimit):
		require.Fail(t, "it goes on")
	}
}
