package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// What is settled stays behind an insert that runs, however long it takes.
func TestSettledStaysBehindInserts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, account := querytest.Conn(t), querytest.ID(t)
	batch, elapsed := querytest.BeginInsert(t, conn, "INSERT INTO lodestone.events (account_id, event_type)")
	require.NoError(t, batch.Append(account, "page_viewed"))
	var settled []time.Time
	require.Eventually(t, func() bool {
		until, err := querytest.Scoped(t).Settled(ctx) // nothing is cached yet
		require.NoError(t, err)
		settled = append(settled, until)
		return elapsed() > 1.5
	}, 3*time.Minute, 100*time.Millisecond)
	require.NoError(t, batch.Send())
	var stored time.Time
	require.NoError(t, conn.QueryRow(ctx, "SELECT stored_at FROM lodestone.events WHERE account_id = toUUID(?)",
		account.String()).Scan(&stored))
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
