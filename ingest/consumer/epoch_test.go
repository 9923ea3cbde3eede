package consumer

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/pkg/event"
)

// commitEpoch sets the group's offset as a consumer would have left it that read the last record in
// the leader epoch.
func (r *rig) commitEpoch(next int64, epoch int32) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: next, LeaderEpoch: epoch, Metadata: r.done()})
	require.NoError(r.t, kadm.NewClient(r.Client).CommitAllOffsets(r.t.Context(), r.group, offsets))
}

// committedEpoch returns the leader epoch of partition 0's commit.
func (r *rig) committedEpoch() int32 {
	r.t.Helper()
	offsets, err := kadm.NewClient(r.Client).FetchOffsetsForTopics(r.t.Context(), r.group, event.Topic)
	require.NoError(r.t, err)
	o, ok := offsets.Lookup(event.Topic, 0)
	require.True(r.t, ok)
	return o.LeaderEpoch
}

// What was done may have left no row to compare, as dead letters do. The epochs of leaders show
// then as well that a log lost its end and grew past it again.
func TestALogWhoseLeaderEpochEndsBelowTheCommitStandsStill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next    int64
		epoch   int32
		message string
	}{
		"under a later leader":       {12, 0, "but that ends at 10"},
		"restored to an older state": {12, 7, "but that is not in the log any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			r.produce(0, r.events(10)...)
			require.NoError(t, r.Broker.Cluster().MoveTopicPartition(event.Topic, 0, 0)) // a new epoch
			r.produce(0, r.events(5)...)
			r.commitEpoch(c.next, c.epoch)
			r.requireHalted(haltedLog, c.message)
			next, _ := r.committed(0)
			require.Equal(t, c.next, next, "nothing is passed over")
		})
	}
}

// The epochs of a log that is whole are no reason to stand still, however many leaders it had.
func TestALogOfSeveralLeadersGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	for epoch := range int32(3) {
		stop := r.consume(r.config())
		r.produce(0, r.events(10)...)
		r.awaitCommit(0, 10*int64(epoch+1))
		stop()
		require.Equal(t, epoch, r.committedEpoch())
		require.NoError(t, r.Broker.Cluster().MoveTopicPartition(event.Topic, 0, 0))
	}
	r.expire(0, 30) // the log is empty, and its epochs are gone
	r.consume(r.config())
	r.produce(0, r.events(10)...)
	r.awaitCommit(0, 40)
	r.requireStored(40)
}
