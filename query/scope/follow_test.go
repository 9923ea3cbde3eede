package scope_test

import (
	"context"
	"slices"
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
		err := ch.Follow(context.Background(), accounts, scope.Statement{Name: "test", SQL: sql}, func(row scope.Row) error { return row.Scan(&n) })
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
	for _, table := range []string{"link_views", "lead_magnets", "generic_links", "access_links", "submissions", "magnet_versions", "expired_views"} {
		require.Zero(t, count("SELECT count() FROM lodestone."+table, three, five), table)
	}
	require.Error(t, ch.Follow(context.Background(), nil, scope.Statement{Name: "test", SQL: "SELECT 1"}, nil))
	for _, sql := range []string{
		"SELECT count() FROM (SELECT * FROM lodestone.events SETTINGS additional_table_filters = {})", "SELECT count() FROM merge('lodestone', '^events$')",
		"INSERT INTO lodestone.events (account_id) SELECT generateUUIDv4()",
	} {
		require.Error(t, ch.Follow(context.Background(), []uuid.UUID{three}, scope.Statement{Name: "test", SQL: sql}, func(scope.Row) error { return nil }), sql)
	}
}

// News names what is new in a window: behind the time, or behind an offset although the clock was set back.
func TestNews(t *testing.T) {
	t.Parallel()
	ch, conn, topic := querytest.Scoped(t), querytest.Conn(t), querytest.ID(t)
	at := time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC) // when nothing else is stored
	account := map[int64]uuid.UUID{}
	for offset, after := range map[int64]time.Duration{0: -time.Minute, 1: -5 * time.Second, 2: 0, 3: 5 * time.Second, 4: -2 * time.Second, 5: time.Minute} {
		account[offset] = querytest.ID(t)
		querytest.Store(t, conn, querytest.Stored{Event: event.Event{
			AccountID: account[offset], AccessLinkID: querytest.ID(t), EventID: querytest.ID(t), Type: event.PageViewed,
			CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
		}, TopicID: topic, Partition: 7, Offset: offset, StoredAt: at.Add(after)})
	}
	partition := scope.Partition(topic, 7)
	for name, c := range map[string]struct {
		w    scope.Window
		want []int64
	}{
		"by time":              {scope.Window{From: map[string]int64{partition: 100}}, []int64{3}},
		"by offset":            {scope.Window{From: map[string]int64{partition: 4}}, []int64{3, 4}},
		"without the offset":   {scope.Window{}, []int64{1, 2, 3, 4}},
		"up to an offset":      {scope.Window{To: map[string]int64{partition: 3}}, []int64{1, 2}},
		"within a millisecond": {scope.Window{From: map[string]int64{partition: 100}, Partition: partition, Offset: 1}, []int64{2, 3}},
	} {
		c.w.Since, c.w.After, c.w.Until = at, at, at.Add(30*time.Second)
		news, err := ch.News(t.Context(), c.w)
		require.NoError(t, err)
		news = slices.DeleteFunc(news, func(n scope.News) bool { return n.TopicID != topic }) // other runs store at the same time
		var want []uuid.UUID
		for _, offset := range c.want {
			want = append(want, account[offset])
		}
		require.Len(t, news, 1, name)
		require.ElementsMatch(t, want, news[0].Accounts, name)
		require.Equal(t, c.want[len(c.want)-1], news[0].Last, name)
		require.Equal(t, topic, news[0].TopicID)
		require.EqualValues(t, 7, news[0].Partition)
	}
}
