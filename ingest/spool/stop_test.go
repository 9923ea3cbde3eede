package spool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
)

// The volume of a collector that is scaled in may never be used again, so what it holds goes to Kafka before the end.
func TestAStopSendsWhatTheSpoolHolds(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.SendTimeout = enginetest.Timeout
	r := newRig(t, newCluster(t), c)
	release := r.holdAcks(t)
	r.write(t, 0, 30)
	stopped := make(chan error)
	go func() { stopped <- r.Stop(background) }()
	<-r.stopping
	_, left := r.queue.Load().state()
	require.EqualValues(t, 30, left)
	release()
	require.NoError(t, <-stopped)
	_, left = r.queue.Load().state()
	require.Zero(t, left)
	require.Contains(t, r.log.String(), "the spool is empty")
	_, marked := r.stored(t, 30)
	require.Len(t, marked, 30)
	require.NoError(t, r.Stop(background), "a second stop")
	require.Empty(t, r.Failed(), "who is stopped has not failed")
}

// The bound ends the wait for a Kafka that is away. The log says how many events stay, and where.
func TestAStopWithoutKafkaTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.SendTimeout = c.After
	r := startRig(t, nil, []string{"127.0.0.1:1"}, c)
	r.write(t, 0, 30)
	require.NoError(t, r.Stop(background))
	require.Contains(t, r.log.String(), "lodestone spool send")
	require.Contains(t, r.log.String(), "records=30")
	require.Contains(t, r.log.String(), "directory="+c.Dir)
}
