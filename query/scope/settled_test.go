package scope_test

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// What is settled stays behind an insert that runs, however long it takes.
func TestSettledStaysBehindInserts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, account := querytest.Conn(t), querytest.ID(t)
	id := uuid.NewString()
	batch, err := conn.PrepareBatch(native.Context(ctx, native.WithQueryID(id), native.WithSettings(native.Settings{"async_insert": 0})),
		"INSERT INTO lodestone.events (account_id, event_type)")
	require.NoError(t, err)
	require.NoError(t, batch.Append(account, "page_viewed"))
	var settled []time.Time
	require.Eventually(t, func() bool {
		until, err := querytest.Scoped(t).Settled(ctx) // nothing is cached yet
		require.NoError(t, err)
		settled = append(settled, until)
		var oldest float64
		require.NoError(t, conn.QueryRow(ctx, "SELECT max(elapsed) FROM system.processes WHERE query_id = ?", id).Scan(&oldest))
		return oldest > 1.5
	}, 3*time.Minute, 100*time.Millisecond)
	require.NoError(t, batch.Send())
	var stored time.Time
	require.NoError(t, conn.QueryRow(ctx, "SELECT stored_at FROM lodestone.events WHERE account_id = toUUID(?)", account.String()).Scan(&stored))
	for _, until := range settled { // both are of whole milliseconds, so one of them may be the next
		require.LessOrEqual(t, until.UnixMilli(), stored.Add(-10*time.Second).UnixMilli()+1)
	}
	ch := querytest.Scoped(t)
	require.Eventually(t, func() bool {
		until, err := ch.Settled(ctx)
		require.NoError(t, err)
		return until.After(stored.Add(-10 * time.Second))
	}, 3*time.Minute, 100*time.Millisecond, "and goes on when it has ended")
}
