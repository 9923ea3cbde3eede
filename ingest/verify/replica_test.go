//go:build long

package verify

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica/replicatest"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
)

// What is compared with the log are the rows of the replica that writes, whichever it is at present.
func TestTheWriterIsVerified(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, Copies: copies}))
	cluster := replicatest.Enrol(t, r.Stack)
	r.verifier.Conn = r.Conn
	stop := copies.Follow()
	differences := func() int {
		t.Helper()
		report, err := r.verifier.Run(t.Context(), Span{})
		require.NoError(t, err)
		return len(report.Differences)
	}
	r.produce(event.Topic, r.events(20)...)
	r.produce(event.LinkViewTopic, r.view())
	r.consume()
	require.Zero(t, differences())
	replicatest.Move(t, cluster, 1, "r2")
	r.produce(event.Topic, r.events(20)...)
	r.consume()
	require.Zero(t, differences())

	stop()
	lose := func(server *enginetest.Copy) {
		t.Helper()
		require.NoError(t, server.Conn().Exec(t.Context(), "ALTER TABLE lodestone.events DELETE WHERE kafka_offset = 30 SETTINGS mutations_sync = 1"))
	}
	lose(copies.Servers[0][0])
	require.Zero(t, differences(), "it does not write any more")
	lose(copies.Servers[0][2])
	require.NotZero(t, differences())
}
