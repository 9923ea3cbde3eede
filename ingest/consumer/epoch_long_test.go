//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/stream"
	"lodestone/pkg/test/enginetest"
)

func TestLeaderEpochsOfApacheKafka(t *testing.T) {
	t.Parallel()
	kafka := enginetest.NewApacheKafka(t, t.TempDir(), 1)
	enginetest.Run(t, kafka)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Brokers: kafka.Brokers(), Partitions: 2}))
	stop := r.consume(r.config())
	r.produce(0, r.events(10)...)
	r.awaitCommit(0, 10)
	stop()
	first := r.committedEpoch()
	require.GreaterOrEqual(t, first, int32(0))

	require.NoError(t, kafka.Stop(t.Context())) // it leads again in a later epoch
	require.NoError(t, kafka.Start(t.Context()))
	stop = r.consume(r.config())
	r.produce(0, r.events(10)...)
	require.Eventually(t, func() bool {
		at, intent := r.committed(0)
		return at == 20 && intent == stream.NoIntent
	}, waitLimit, 100*time.Millisecond)
	stop()
	r.requireStored(20)
	require.Greater(t, r.committedEpoch(), first)

	r.commitEpoch(15, first)
	r.requireHalted(haltedLog, "but that ends at 10")
}
