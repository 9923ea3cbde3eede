package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/eventlist"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// A stream goes on in another copy of the events when its own is away, and back again. It may
// repeat events, and misses none.
func TestAStreamGoesOnInAnotherCopy(t *testing.T) {
	t.Parallel()
	ctx, pool, dir := t.Context(), enginetest.MigratedPostgres(t), enginetest.Dir(t)
	_, err := pool.Unscoped().Exec(ctx, "SELECT add_copy(2)")
	require.NoError(t, err)
	// neither falls behind
	_, err = pool.Unscoped().Exec(ctx, "UPDATE copies SET stored_until = clock_timestamp() + interval '1 hour'")
	require.NoError(t, err)
	first, second := enginetest.NewClickHouse(t, dir), enginetest.NewClickHouse(t, enginetest.Dir(t))
	require.NoError(t, first.Start(ctx))
	require.NoError(t, second.Start(ctx))
	t.Cleanup(func() {
		require.NoError(t, errors.Join(first.Stop(context.Background()), second.Stop(context.Background())))
	})
	configs := []clickhouse.Config{{URL: first.URL()}, {URL: second.URL(), Copy: 2}}
	for _, c := range configs {
		_, err := clickhouse.Migrate(ctx, c)
		require.NoError(t, err)
	}
	copies := scope.NewCopies(scope.CopiesConfig{Of: configs, MaxLag: time.Minute},
		scope.CopiesDeps{Postgres: pool, Log: querytest.Log()})
	require.NoError(t, copies.Start(ctx))
	t.Cleanup(func() { require.NoError(t, copies.Stop(context.Background())) })
	ch, err := scope.OpenCopies(copies, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ch.Close()) })
	l := start(t, ch, plenty, prometheus.NewRegistry())

	account, topic := querytest.ID(t), querytest.ID(t)
	li, _ := listen(t, l, account, eventlist.Filter{}, time.Time{})
	events := []querytest.StoredEvent{row(t, account, topic, 0, 1), row(t, account, topic, 0, 2),
		row(t, account, topic, 0, 3)}
	in := func(n int, events ...querytest.StoredEvent) {
		querytest.Store(t, enginetest.Open(t, configs[n]), events...)
	}
	var last time.Time
	until := func(id uuid.UUID) {
		t.Helper()
		for {
			m := take(t, li, 1)
			last = m[len(m)-1].ID
			if ids(m)[len(m)-1] == id {
				return
			}
		}
	}
	in(1, events[0])
	in(0, events[0])
	until(events[0].EventID)
	require.Zero(t, last.Sub(last.Truncate(time.Millisecond)), "ids of the first copy are plain times")

	require.NoError(t, first.Stop(ctx))
	in(1, events[1])
	until(events[1].EventID)
	li.Close()
	require.Equal(t, time.Microsecond, last.Sub(last.Truncate(time.Millisecond)))

	first = enginetest.NewClickHouse(t, dir)
	require.NoError(t, first.Start(ctx))
	in(0, events[1:]...)
	in(1, events[2])
	li, _ = listen(t, l, account, eventlist.Filter{}, last) // a reader that comes back, maybe to the first copy
	defer li.Close()
	until(events[2].EventID)
}
