package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

// keepRunning runs a query for the partition under an id as an insert of the kind has, and returns a
// channel that delivers its error when it ends. It is running when this returns.
func (r *rig) keepRunning(kind string) <-chan error {
	r.t.Helper()
	s, id := r.store(0), r.store(0).queryPrefix(kind)+"0-9-test"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n proto.ColUInt64
		ended <- s.do(ctx, ch.Query{
			QueryID:  id,
			Body:     "SELECT count() AS n FROM numbers(1000000) WHERE NOT ignore(sleepEachRow(0.02))",
			Settings: []ch.Setting{{Key: "max_block_size", Value: "1"}},
			Result:   proto.Results{{Name: "n", Data: &n}},
		})
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	require.Eventually(r.t, func() bool { return r.runs(kind) }, patience, 20*time.Millisecond)
	return ended
}

// runs reports whether a query of the kind runs for the partition that nobody has ended.
func (r *rig) runs(kind string) bool {
	var n proto.ColUInt64
	s := r.store(0)
	require.NoError(r.t, s.do(context.Background(), ch.Query{
		Body:       "SELECT count() AS n FROM system.processes WHERE startsWith(query_id, {prefix:String}) AND NOT is_cancelled",
		Parameters: ch.Parameters(map[string]any{"prefix": s.queryPrefix(kind)}),
		Result:     proto.Results{{Name: "n", Data: &n}},
	}))
	return n.Row(0) == 1
}

// Whoever replays dead letters ends what an earlier replay left running, and no block of the consumer, which
// is on its way; a consumer ends both.
func TestAReplayLetsARunningBlockGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	block, replay := r.keepRunning(kindBlock), r.keepRunning(kindReplay)
	stream, _ := StreamOf(event.Topic)
	options, err := r.clickhouse.BlockOptions()
	require.NoError(t, err)
	w := stream.Writer(options, r.topicID, 0, testLog())
	defer w.Close()
	require.NoError(t, w.Settle(t.Context()))
	require.Error(t, <-replay)
	require.True(t, r.runs(kindBlock))
	require.Empty(t, block)

	replay = r.keepRunning(kindReplay)
	require.NoError(t, r.store(0).kill(t.Context()))
	require.Error(t, <-block)
	require.Error(t, <-replay)
}
