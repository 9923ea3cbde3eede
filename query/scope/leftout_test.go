package scope_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/suspect"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// What an account leaves out is left out of every statement of it, below views and in the
// projection as well, and of no other account's. Lists and files have everything.
func TestWhatAnAccountLeavesOut(t *testing.T) {
	t.Parallel()
	pool, ch, conn := enginetest.MigratedPostgres(t), querytest.Scoped(t), querytest.Conn(t)
	ch.Heed(pool)
	mine, other := querytest.ID(t), querytest.ID(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	var events []querytest.StoredEvent
	for _, account := range []uuid.UUID{mine, other} {
		exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", account)
		for i, rule := range []suspect.Rule{"", "", suspect.Network, suspect.Delivery} {
			e := querytest.StoredEvent{Event: event.Event{AccountID: account, LeadMagnetID: querytest.ID(t),
				AccessLinkID: querytest.ID(t), SessionID: querytest.ID(t), EventID: querytest.ID(t), Type: event.PageViewed,
				CreatedAt: 1_774_000_000_000, ReceivedAt: 1_774_000_000_000}, TopicID: account, Offset: int64(i)}
			if i == 0 {
				e.SessionID = uuid.Nil // an event without a session is suspected by no rule
			}
			events = append(events, e)
			if rule != "" {
				require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(
					"INSERT INTO lodestone.suspects (id, account_id, access_link_id, rule, version) VALUES ('%s', '%s', '%s', '%s', 1)",
					e.SessionID, account, e.AccessLinkID, rule)))
			}
		}
	}
	querytest.Store(t, conn, events...)
	require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO lodestone.link_views (account_id, suspect, created_at) SELECT '%s', arrayJoin(['', 'network']), now()", mine)))
	const views = "SELECT count() FROM lodestone.link_views"
	require.EqualValues(t, 2, count(t, ch, mine, views))
	statements := []string{
		"SELECT count() FROM lodestone.events WHERE account_id = {account:UUID}",
		"SELECT count() FROM analytics.events",
		"SELECT count() FROM analytics.sessions",
		"SELECT count() FROM lodestone.events AS a INNER JOIN lodestone.events AS b ON a.event_id = b.event_id",
		// As query/report reads the projection quarters.
		"SELECT toUInt64(sum(n)) FROM (SELECT count() AS n FROM lodestone.events WHERE account_id = {account:UUID} AND " +
			"toStartOfFifteenMinutes(created_at) >= toDateTime('2026-01-01', 'UTC') GROUP BY access_link_id, event_type)",
	}
	require.EqualValues(t, 4, count(t, ch, mine, statements[0]), "all are counted before the account says otherwise")
	exec("UPDATE accounts SET left_out_suspects = '{network,delivery,nonsense}' WHERE id = $1", mine)
	ch = querytest.Scoped(t)
	ch.Heed(pool)
	for _, sql := range statements {
		require.EqualValues(t, 2, count(t, ch, mine, sql), sql)
		require.EqualValues(t, 4, count(t, ch, other, sql), sql)
		var n uint64
		require.NoError(t, ch.Query(t.Context(), mine, scope.Statement{Name: "list", SQL: sql, Whole: true},
			func(row scope.Row) error { return row.Scan(&n) }), sql)
		require.EqualValues(t, 4, n, sql)
		require.NoError(t, ch.Query(scope.Leaving(t.Context(), suspect.Network), mine,
			scope.Statement{Name: "tried", SQL: sql}, func(row scope.Row) error { return row.Scan(&n) }), sql)
		require.EqualValues(t, 3, n, sql)
	}
	require.EqualValues(t, 1, count(t, ch, mine, views))
	require.EqualValues(t, 2, count(t, ch, mine, "SELECT count() FROM lodestone.suspects"))
	var plan strings.Builder
	require.NoError(t, ch.Query(t.Context(), mine, scope.Statement{Name: "plan",
		SQL: "EXPLAIN indexes = 1 " + statements[len(statements)-1]}, func(row scope.Row) error {
		var line string
		err := row.Scan(&line)
		plan.WriteString(line + "\n")
		return err
	}))
	require.Contains(t, plan.String(), "quarters", "reports stay as fast")
}
