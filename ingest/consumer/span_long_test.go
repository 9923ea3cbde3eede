//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// An event that went to Kafka late, and to the spool as well: the two records lie further apart
// than the window, and few enough of those between them become rows that one block could hold all.
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
	c.BatchRows, c.BatchBytes, c.BufferBytes, c.QueueBytes = 100_000, 256<<20, 512<<20, 256<<20
	c.BatchAge, c.InsertTimeout, c.SessionTimeout, c.RebalanceTimeout = time.Minute,
		20*time.Second, 45*time.Second, time.Minute
	r.consume(c)
	r.awaitCommit(0, last+1)
	r.requireStoredRows(1001)
}
