//go:build long

package live

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// What a poll reads depends on what is new, not on what is stored.
func TestAPollReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	const events = 200_000
	ch, account, _ := querytest.Alone(t, 100, events)
	at := Position{}.until(time.Unix(querytest.Begin+events-10, 0))
	until := at.stored.Add(time.Minute)
	reads := func(query func(ctx context.Context)) (rows uint64) {
		query(native.Context(t.Context(), native.WithProgress(func(p *native.Progress) { rows += p.Rows })))
		return rows
	}
	require.Less(t, reads(func(ctx context.Context) {
		news, err := ch.News(ctx, at.window(until, nil))
		require.NoError(t, err)
		require.NotEmpty(t, news)
	}), uint64(events/10))
	require.Less(t, reads(func(ctx context.Context) {
		found, err := read(ctx, ch, []uuid.UUID{account}, at.window(until, nil), 1000)
		require.NoError(t, err)
		require.NotEmpty(t, found)
		require.Less(t, len(found), 50)
	}), uint64(events/10))
	l := New(Config{}, Deps{ClickHouse: ch, Registerer: prometheus.NewRegistry()})
	require.Less(t, reads(func(ctx context.Context) {
		found, err := l.Visits(ctx, account, 20, nil, time.Now())
		require.NoError(t, err)
		require.Len(t, found, 20)
	}), uint64(100_000), "an event a second: the day before the newest, not all that is stored")
}
