package clickhouse_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

func TestCanaryNoticesThatSQLUsersAreNotAnswered(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, hurried)
	a.queue(1)
	metrics := prometheus.NewRegistry()
	canary, err := clickhouse.NewCanary(clickhouse.CanaryConfig{URL: a.all, Interval: 10 * time.Millisecond,
		Wait: time.Second}, clickhouse.CanaryDeps{
		Log: slog.New(slog.DiscardHandler), Registerer: metrics,
	})
	require.NoError(t, err)
	enginetest.Run(t, canary)
	answering := func(want float64) bool {
		families, err := metrics.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() == "lodestone_sql_answering" {
				return f.GetMetric()[0].GetGauge().GetValue() == want
			}
		}
		return false
	}
	// On a busy machine an answer may take longer than it has.
	require.Eventually(t, func() bool { return canary.Ready(t.Context()) == nil && answering(1) },
		testTimeout, 10*time.Millisecond)

	held := a.hold(a.scoped, far)
	require.Eventually(t, func() bool { err = canary.Ready(t.Context()); return err != nil && answering(0) },
		testTimeout, 10*time.Millisecond)
	require.ErrorContains(t, err, "SQL users have had no answer for")
	require.NotContains(t, err.Error(), "analyst:", "no password")

	a.must(a.own, "KILL QUERY WHERE user = 'analyst_acme' SYNC")
	<-held
	require.Eventually(t, func() bool { return canary.Ready(t.Context()) == nil && answering(1) },
		testTimeout, 10*time.Millisecond)
}
