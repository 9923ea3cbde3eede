package consumer

import (
	"testing"
	"time"

	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// A block announced by a release that did not bound blocks by the window is built as it was
// announced.
func TestAnAnnouncedBlockLongerThanTheWindowIsBuiltAsAnnounced(t *testing.T) {
	t.Parallel()
	f := plannedBuilder(0, 9, 0, 4, 100)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	r := &rig{t: t, account: uuid.New()}
	for offset, e := range r.events(20) {
		f.queue.push([]*kgo.Record{{Topic: event.Topic, Offset: int64(offset), Value: e.Append(nil)}})
	}
	require.Equal(t, isFull, f.fill(timer))
	require.Equal(t, int64(9), f.block.last)
	require.Len(t, f.block.rows(), 10)
	f.intent = stream.NoIntent
	f.block.reset(10)
	require.Equal(t, isFull, f.fill(timer))
	require.Equal(t, int64(13), f.block.last, "the next one is within the window")
}
