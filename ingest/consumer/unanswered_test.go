package consumer

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The leader of the topic of dead letters dies and stays away. The client waits for the answer to
// an idempotent batch, whatever becomes of its context; the consumer does not, so that it gives its
// partitions back.
func TestAConsumerStopsWhileNoBrokerAnswersItsDeadLetters(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.produceRaw(0, []byte("noise"))
	asked := make(chan struct{})
	first := sync.OnceFunc(func() { close(asked) })
	var back atomic.Bool
	defer back.Store(true) // a test that fails ends
	// The consumer writes nothing else.
	r.Broker.Cluster().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.Broker.Cluster().KeepControl()
		first()
		return nil, nil, !back.Load()
	})
	stop := r.consume(r.config())
	awaitClosed(t, asked, "the dead letter is not written")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	awaitClosed(t, stopped, "the consumer does not stop")
}

func awaitClosed(t *testing.T, c <-chan struct{}, otherwise string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitLimit):
		require.Fail(t, otherwise)
	}
}
