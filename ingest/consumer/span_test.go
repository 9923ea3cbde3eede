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

// An event that went to Kafka late, and to the spool as well: the two records lie further apart than the window,
// and few enough of those between them become rows that one block could hold all.
func TestASpooledRepeatFurtherAwayThanTheWindowIsStoredOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	x := r.event(0)
	between := r.events(1000)
	r.produce(0, append([]event.Event{x}, between...)...)
	for range stream.RepeatWindow / 4000 {
		var repeats []event.Event
		for range 4 { // senders that send again what was not acknowledged
			repeats = append(repeats, between...)
		}
		r.produce(0, repeats...)
	}
	x.Spooled = true
	last := r.produce(0, x)
	require.Greater(t, last, int64(stream.RepeatWindow))
	c := r.config()
	c.BlockRows, c.BlockBytes, c.BufferBytes, c.QueueBytes = 100_000, 256<<20, 512<<20, 256<<20
	c.BlockAge, c.InsertTimeout, c.SessionTimeout, c.RebalanceTimeout = time.Minute, 20*time.Second, 45*time.Second, time.Minute
	r.consume(c)
	r.awaitCommit(0, last+1)
	r.requireStoredRows(1001)
}

// A block announced by a release that did not bound blocks by the window is built as it was announced.
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
