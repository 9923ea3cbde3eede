package counter_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/counter"
	"lodestone/pkg/config"
	"lodestone/pkg/plan"
	"lodestone/pkg/test/enginetest"
)

func TestAccountsBeyondTheirPlan(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := enginetest.MigratedClickHouse(t)
	conn := enginetest.Open(t, store)
	pool := enginetest.MigratedPostgres(t)

	open := func(plan string) uuid.UUID {
		id := uuid.New()
		_, err := pool.Unscoped().Exec(ctx, "INSERT INTO accounts (id, name, plan) VALUES ($1, 'Test', $2)", id, plan)
		require.NoError(t, err)
		return id
	}
	send := func(account uuid.UUID, n int, at time.Time) {
		require.NoError(t, conn.Exec(ctx, `INSERT INTO lodestone.events (account_id, event_id, event_type, created_at, received_at)
			SELECT toUUID(?), generateUUIDv4(), 'page_viewed', fromUnixTimestamp64Milli(toInt64(?)), fromUnixTimestamp64Milli(toInt64(?)) FROM numbers(toUInt64(?))`,
			account.String(), at.UnixMilli(), at.UnixMilli(), n))
	}
	now := time.Now().UTC()
	free, busy, pro, team := open("free"), open("free"), open("pro"), open("team")
	send(free, 4, now)
	send(free, 50, now.AddDate(0, 0, -now.Day())) // last month's
	send(busy, 5, now)
	send(pro, 5, now)
	send(team, 50, now)

	metrics := prometheus.NewRegistry()
	for range 2 { // as two consumers' processes
		m, err := counter.NewQuotaMeter(counter.QuotaConfig{Interval: 10 * time.Millisecond,
			Plans: plan.Plans{Free: plan.Limits{EventsPerMonth: 5}, Pro: plan.Limits{EventsPerMonth: 6}}},
			counter.QuotaDeps{ClickHouse: store, Postgres: pool, Log: slog.New(slog.DiscardHandler),
				Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		enginetest.Run(t, m)
	}
	e, err := counter.NewExceededQuotas(counter.QuotaDeps{Postgres: pool,
		Log: slog.New(slog.DiscardHandler), Registerer: metrics})
	require.NoError(t, err)
	e.Often()
	enginetest.Run(t, e)
	refused := func(account uuid.UUID) string { return e.Exceeded(account, time.Now()) }
	await := func(account uuid.UUID, beyond bool) {
		t.Helper()
		require.Eventually(t, func() bool { return (refused(account) != "") == beyond }, waitLimit, 5*time.Millisecond)
	}

	await(busy, true)
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, "the plan free allows 5 events a month, which are used up; more are accepted from "+
		next.Format(time.RFC3339)+" on", refused(busy))
	for _, account := range []uuid.UUID{free, pro, team, uuid.New()} {
		require.Empty(t, refused(account))
	}
	require.Empty(t, e.Exceeded(busy, next), "another month")
	send(free, 1, now)
	await(free, true)
	_, err = pool.Unscoped().Exec(ctx, "UPDATE accounts SET plan = 'team' WHERE id = $1", busy)
	require.NoError(t, err)
	await(busy, false)
	require.NotEmpty(t, refused(free))

	// While Postgres is away, what was known goes on.
	pool.Close()
	require.NotEmpty(t, refused(free))
}

func TestIntervalsAreBounded(t *testing.T) {
	t.Parallel()
	require.NoError(t, counter.QuotaConfig{Interval: time.Second}.Validate())
	err := counter.QuotaConfig{}.Validate()
	require.True(t, config.IsInvalid(err))
	require.ErrorContains(t, err, "--quota-interval")
}
