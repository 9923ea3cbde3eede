//go:build long

package deadletter

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"lodestone/ingest/replica"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

func TestAReplayOnApacheKafka(t *testing.T) {
	t.Parallel()
	requireReplay(t, newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Brokers: enginetest.ApacheKafka(t), Partitions: 2})))
}

// Letters are replayed to the writer, and wait for a majority as blocks do. Counters read the writer.
func TestALetterIsReplayedToTheWriter(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 2)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	topology, err := clickhouse.NewTopology(stack.ClickHouse)
	require.NoError(t, err)
	cluster := &replica.Cluster{Ledger: replica.NewLedger(stack.Postgres), Topology: topology, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, cluster.Enrol(t.Context()))
	stack.ClickHouse.Writers = cluster
	stack.Conn = enginetest.Open(t, stack.ClickHouse)
	r := newRigOn(t, stack)
	link := r.link()
	e := r.event(link)
	r.bury(5, e.Append(nil))
	r.commit(6)
	_, err = r.replayer.Replay(t.Context(), Filter{})
	_, waits := errors.AsType[*replica.WaitError](err)
	require.True(t, waits, "%v", err)
	copies.Follow()
	var result Result
	require.Eventually(t, func() bool {
		again, err := r.replayer.Replay(t.Context(), Filter{})
		result.Stored, result.Present = result.Stored+again.Stored, result.Present+again.Present
		return err == nil
	}, waitLimit, 100*time.Millisecond)
	require.Equal(t, 1, result.Stored+result.Present)
	r.requireRows(5)
	r.requireViews(link, 1)
}
