package deadletter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// Whoever writes to the topics of events does not fill the disk with dead letters, nor make each
// look at one read all of them.
func TestDeadLettersAndReadsOfThemAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	configs, err := kadm.NewClient(r.Client).DescribeTopicConfigs(t.Context(), event.DeadLetterTopic)
	require.NoError(t, err)
	bounds := map[string]string{}
	for _, c := range configs[0].Configs {
		bounds[c.Key] = c.MaybeValue()
	}
	require.Equal(t, []string{"7776000000", "268435456"}, []string{bounds["retention.ms"], bounds["retention.bytes"]})

	var origins []Origin
	for i := range int64(20) {
		e := r.event(r.link())
		origins = append(origins, r.bury(i, e.Append(nil)))
	}
	all, err := kafka.Ranges(t.Context(), r.Client, event.DeadLetterTopic)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for partition, held := range all {
		require.NotZero(t, held.To, "partition %d", partition)
	}
	for _, o := range origins {
		one, err := r.box.ranges(t.Context(), scope{origins: []Origin{o}})
		require.NoError(t, err)
		require.Len(t, one, 1)
		letter, _, err := r.box.read(t.Context(), o, scope{origins: []Origin{o}})
		require.NoError(t, err)
		require.Equal(t, o, letter.Origin)
	}
	since, err := r.box.ranges(t.Context(), scope{since: time.Now().Add(2 * time.Hour)})
	require.NoError(t, err)
	for _, left := range since {
		require.True(t, left.Empty())
	}
	letters, err := r.box.List(t.Context(), Filter{Origins: origins})
	require.NoError(t, err)
	require.Len(t, letters, len(origins))
}
