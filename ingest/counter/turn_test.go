package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/ingest/counter"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// A copy of the events that lacks what another one counted does not count: it would take that off.
// Once it has everything it takes the place of one whose consumers are gone.
func TestOneCopyCountsAtATime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.AddCopy(2)
	id := r.link(nil)
	r.send(id, func(*event.Event) {})
	stop := r.start()
	r.await("access_links", id, 1, 1, 1)
	stop()
	r.stopConsumer()

	consumer := consumertest.New(t, other)
	second := counter.New(counter.Config{Interval: 50 * time.Millisecond}, counter.Deps{
		Group: other.ClickHouse.Group("g"), Kafka: r.Kafka, ClickHouse: other.ClickHouse, Postgres: r.Postgres, Log: r.log,
		Registerer: prometheus.NewRegistry(),
	})
	enginetest.Run(t, second)
	r.Exec("UPDATE counting_copy SET seen_at = now() - interval '1 minute'")
	recount := func(number int32) error {
		of := r.Conn
		if number == 2 {
			of = other.Conn
		}
		return counter.RecountAll(t.Context(), r.Postgres, number, of, func(int) {})
	}
	require.ErrorIs(t, recount(2), counter.ErrTurn)
	require.NoError(t, recount(1))
	r.await("access_links", id, 1, 1, 1)

	enginetest.Run(t, consumer)
	r.send(id, func(*event.Event) {})
	r.await("access_links", id, 2, 1, 2)
	var counts int32
	require.NoError(t, r.Postgres.Unscoped().QueryRow(context.Background(),
		"SELECT copy FROM counting_copy").Scan(&counts))
	require.EqualValues(t, 2, counts)
	require.ErrorIs(t, recount(1), counter.ErrTurn, "the first copy lacks the second event")
	require.NoError(t, recount(2))
	r.await("access_links", id, 2, 1, 2)
}
