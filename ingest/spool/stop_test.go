package spool

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
	"lodestone/pkg/test/enginetest"
)

// The volume of a collector that is scaled in may never be used again, so what it holds goes to
// Kafka before the end.
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

// afterLog calls a function after each line of the log.
type afterLog struct {
	slog.Handler
	call func(message string)
}

func (l afterLog) Handle(ctx context.Context, r slog.Record) error {
	err := l.Handler.Handle(ctx, r)
	l.call(r.Message)
	return err
}

// An entry that is written between the last look at the queue and the stop is sent as well.
func TestAStopSendsWhatWasWrittenJustBefore(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	c.SendTimeout = enginetest.Timeout
	cluster := newCluster(t)
	r := makeRig(t, cluster, cluster.ListenAddrs(), c)
	stopped := make(chan error, 1)
	r.deps.Log = slog.New(afterLog{r.deps.Log.Handler(), func(message string) {
		if message != "the spool is drained" { // the queue was found empty
			return
		}
		records := []producer.Record{record(0)}
		payload := appendPayload(make([]byte, 0, payloadSize(records)), time.Now(), records, mark)
		stopped <- r.queue.Load().append(background, payload, 1)
		go func() { stopped <- r.Stop(background) }()
		<-r.stopping
	}})
	r.circuit.open.Store(true)
	enginetest.Run(t, r)
	require.NoError(t, <-stopped, "the write")
	require.NoError(t, <-stopped, "the stop")
	_, left := r.queue.Load().state()
	require.Zero(t, left)
	_, marked := r.stored(t, 1)
	require.Len(t, marked, 1)
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
