package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/eventlist"
	"lodestone/query/live"
	"lodestone/query/querytest"
)

// Listen does not wait for ClickHouse. Still a listener gets everything that is stored after it, whether the reader reads already
// or begins with it.
func TestAListenerMissesNothingFromTheStart(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty)
	for n := range 6 {
		account, topic := querytest.ID(t), querytest.ID(t)
		before := row(t, account, topic, 0, 0)
		before.StoredAt = time.Now().Add(-time.Minute)
		querytest.Store(t, conn, before)
		if n == 3 {
			others := listen(t, l, querytest.ID(t), eventlist.Filter{}, nil) // from here on, the reader never stops
			t.Cleanup(others.Close)
		}
		li, err := l.Listen(account, eventlist.Filter{}, nil)
		require.NoError(t, err)
		stored := []querytest.Stored{row(t, account, topic, 0, 1), row(t, account, topic, 0, 2)}
		querytest.Store(t, conn, stored[0])
		querytest.Store(t, conn, stored[1])
		got := take(t, li, 2)
		require.Equal(t, []uuid.UUID{stored[0].EventID, stored[1].EventID}, ids(got))
		li.Close()
	}
}

func TestAPositionOfTheFutureIsRefused(t *testing.T) {
	t.Parallel()
	l := start(t, querytest.Scoped(t), plenty)
	_, err := l.Listen(querytest.ID(t), eventlist.Filter{}, position(t, "AYCg1e3uZgAA")) // of the year 2082
	require.ErrorIs(t, err, live.ErrAhead)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	l := startWith(t, querytest.Scoped(t), live.Config{Streams: 2, StreamsPerAccount: 1}, registry)
	conn, one := querytest.Conn(t), querytest.ID(t)
	li, other := listen(t, l, one, eventlist.Filter{}, nil), listen(t, l, querytest.ID(t), eventlist.Filter{}, nil)
	defer other.Close()
	_, err := l.Listen(one, eventlist.Filter{}, nil)
	require.ErrorIs(t, err, live.ErrAccount)
	_, err = l.Listen(querytest.ID(t), eventlist.Filter{}, nil)
	require.ErrorIs(t, err, live.ErrFull)
	querytest.Store(t, conn, row(t, one, querytest.ID(t), 0, 0))
	take(t, li, 1)
	values := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := []string{f.GetName()}
				for _, label := range m.GetLabel() {
					name = append(name, label.GetValue())
				}
				got[strings.Join(name, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return got
	}
	got := values()
	require.Less(t, got["lodestone_live_lag_seconds"], enginetest.Timeout.Seconds())
	delete(got, "lodestone_live_lag_seconds")
	require.Equal(t, map[string]float64{
		"lodestone_live_streams": 2, "lodestone_live_messages_total": 1, "lodestone_live_slow_total": 0, "lodestone_live_errors_total": 0,
		"lodestone_live_refused_total account": 1, "lodestone_live_refused_total process": 1,
	}, got)
	li.Close()
	li.Close() // has no effect
	require.Less(t, values()["lodestone_live_streams"], 2.0)
}
