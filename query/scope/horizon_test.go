package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// A statement for several accounts sees their events, and nothing else of anyone.
func TestFollowSeesTheEventsOfItsAccounts(t *testing.T) {
	t.Parallel()
	ch := querytest.Scoped(t)
	three, five := storeTwoAccounts(t)
	count := func(sql string, accounts ...uuid.UUID) (n uint64) {
		err := ch.Follow(context.Background(), accounts, scope.Statement{Name: "test", SQL: sql},
			func(row scope.Row) error { return row.Scan(&n) })
		require.NoError(t, err, sql)
		return n
	}
	for _, sql := range []string{
		"SELECT count() FROM lodestone.events", "SELECT count() FROM analytics.events",
		"SELECT count() FROM lodestone.events WHERE 1 OR account_id NOT IN {accounts:Array(UUID)}",
		"SELECT count() FROM lodestone.events WHERE event_id IN (SELECT event_id FROM lodestone.events)",
	} {
		require.EqualValues(t, 3, count(sql, three), sql)
		require.EqualValues(t, 8, count(sql, three, five), sql)
		require.Zero(t, count(sql, querytest.ID(t)), sql)
	}
	for _, table := range []string{"link_views", "lead_magnets", "generic_links", "access_links", "submissions",
		"magnet_versions", "expired_views"} {
		require.Zero(t, count("SELECT count() FROM lodestone."+table, three, five), table)
	}
	require.Error(t, ch.Follow(context.Background(), nil, scope.Statement{Name: "test", SQL: "SELECT 1"}, nil))
	for _, sql := range []string{
		"SELECT count() FROM (SELECT * FROM lodestone.events SETTINGS additional_table_filters = {})",
		"SELECT count() FROM merge('lodestone', '^events$')",
		"INSERT INTO lodestone.events (account_id) SELECT generateUUIDv4()",
	} {
		require.Error(t, ch.Follow(context.Background(), []uuid.UUID{three}, scope.Statement{Name: "test", SQL: sql},
			func(scope.Row) error { return nil }), sql)
	}
}

// News names the accounts that have something new, and no others.
func TestNews(t *testing.T) {
	t.Parallel()
	ch, conn, topic := querytest.Scoped(t), querytest.Conn(t), querytest.ID(t)
	at := time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC) // when nothing else is stored
	account := map[time.Duration]uuid.UUID{}
	for _, after := range []time.Duration{-time.Millisecond, 0, time.Millisecond, time.Second,
		time.Second + time.Millisecond} {
		account[after] = querytest.ID(t)
		querytest.Store(t, conn, querytest.StoredEvent{Event: event.Event{
			AccountID: account[after], AccessLinkID: querytest.ID(t), EventID: querytest.ID(t), Type: event.PageViewed,
			CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
		}, TopicID: topic, Offset: after.Milliseconds() + 1, StoredAt: at.Add(after)})
	}
	news, err := ch.News(t.Context(), at, at.Add(time.Second))
	require.NoError(t, err)
	for after, id := range account {
		require.Equal(t, after > 0 && after <= time.Second, news[id], after)
	}
}
