package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/counter"
	"lodestone/pkg/event"
)

// While consumers store a backlog, counters leave the processors to them, but do not stop.
func TestCountersPauseWhileABacklogIsStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ago   time.Duration // since the last pass
		views []int64       // after each pass
	}{
		// by the second, nothing is stored any more: the backlog waits for an operator
		"a pass has just been made":  {0, []int64{1, 2}},
		"the last pass was long ago": {counter.FarPause, []int64{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			link := r.link(nil)
			counters, ok := r.create().(*counter.Counter)
			require.True(t, ok)
			views := func() (n int64) {
				require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
					"SELECT view_count FROM counted_access_links WHERE id = $1", link).Scan(&n))
				return n
			}
			r.send(link, func(*event.Event) {})
			r.awaitStored()
			require.Eventually(t, func() bool {
				return counters.Pass(context.Background(), r.Client, r.Conn, 0) == nil && views() == 1
			}, waitLimit, 20*time.Millisecond)
			r.send(link, func(*event.Event) {})
			r.awaitStored()
			r.stopConsumer()

			backlog := make([]*kgo.Record, counter.FarBehind+1)
			for i := range backlog {
				backlog[i] = &kgo.Record{Topic: event.Topic, Partition: partitionOf(link), Value: []byte("x")}
			}
			require.NoError(t, r.Client.ProduceSync(t.Context(), backlog...).FirstErr())
			for _, want := range c.views {
				require.NoError(t, counters.Pass(t.Context(), r.Client, r.Conn, c.ago))
				require.Equal(t, want, views())
			}
		})
	}
}
