package consumer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Whoever empties the queue just when the poll loop finds it too full must not leave the
// partition paused: no one would fetch it again.
func TestQueueNeverStaysPausedWhenEmpty(t *testing.T) {
	t.Parallel()
	var paused atomic.Bool
	var disorder atomic.Int64
	turn := func(to bool) {
		runtime.Gosched()
		if !paused.CompareAndSwap(!to, to) {
			disorder.Add(1)
		}
	}
	q := newQueue(1, nil, func() { turn(true) }, func() { turn(false) })
	ready := make(chan struct{}, 1)
	q.attach(ready)
	const rounds = 20_000
	var both sync.WaitGroup
	both.Go(func() {
		for range rounds {
			q.push([]*kgo.Record{{Value: []byte("more than the limit")}})
		}
	})
	both.Go(func() {
		for taken := 0; taken < rounds; {
			records := q.take()
			taken += len(records)
			if len(records) == 0 {
				<-ready
			}
		}
	})
	both.Wait()
	require.Zero(t, disorder.Load(), "resumed before it was paused")
	require.False(t, paused.Load())
}
