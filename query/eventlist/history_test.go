package eventlist

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// A month of its own, so that nothing but the test changes it.
const ownMonth = 201905

func storeIn(t *testing.T, account uuid.UUID, at ...time.Time) {
	t.Helper()
	var list []querytest.Stored
	for _, at := range at {
		list = append(list, querytest.Stored{
			Event: event.Event{
				AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
				Type: event.PageViewed, CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
			},
			TopicID: querytest.ID(t),
		})
	}
	querytest.Store(t, querytest.Conn(t), list...)
}

// Whatever happens to a month that is remembered, the next count knows.
func TestRememberedMonthIsReadAnewWhenItChanges(t *testing.T) {
	t.Parallel()
	ctx, conn, account := context.Background(), querytest.Conn(t), querytest.ID(t)
	lister := New(querytest.Door(t))
	begin := time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC)
	end := begin.AddDate(0, 1, 0)
	f := Filter{From: &begin, To: &end}
	count := func() int64 {
		t.Helper()
		n, err := lister.Count(ctx, account, f)
		require.NoError(t, err)
		page, _, err := lister.Page(ctx, account, f, 0, 20)
		require.NoError(t, err)
		require.Len(t, page, int(n))
		return n
	}

	require.Zero(t, count())
	storeIn(t, account, begin, begin.Add(time.Hour), begin.Add(30*dayLength))
	require.EqualValues(t, 3, count(), "a month appears")
	v := lister.history.get(lister.history.of(account))
	require.Contains(t, v.months, uint32(ownMonth), "it is remembered")
	require.EqualValues(t, 3, count())
	storeIn(t, account, begin.Add(2*dayLength))
	require.EqualValues(t, 4, count(), "an event comes late")
	storeIn(t, querytest.ID(t), begin.Add(2*dayLength))
	require.EqualValues(t, 4, count(), "an event of another account")
	merge(t, conn, "201905")
	require.EqualValues(t, 4, count(), "parts are merged")
	require.NoError(t, conn.Exec(ctx, "ALTER TABLE lodestone.events DELETE IN PARTITION ID '201905' WHERE account_id = '"+account.String()+"' AND toDate(created_at) = '2019-05-01'"))
	requireMutated(t, conn, "201905")
	require.EqualValues(t, 2, count(), "events are deleted")
	require.NoError(t, conn.Exec(ctx, "ALTER TABLE lodestone.events DROP PARTITION ID '201905'"))
	require.Zero(t, count(), "the month leaves")
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	var h history
	large := func() *view {
		return &view{asOf: time.Now(), months: map[uint32]knownMonth{202501: {days: []knownDay{{numbers: make([]number, mostNumbers)}}}}}
	}
	remember := func(account uuid.UUID, v *view) { h.set(account, h.of(account), v) }
	knows := func(account uuid.UUID) bool { return h.recent(account) != nil }
	first, second := uuid.New(), uuid.New()
	remember(first, large())
	remember(second, large())
	for range mostRemembered/large().bytes() - 1 {
		h.of(first)
		remember(uuid.New(), large())
	}
	require.LessOrEqual(t, h.size, mostRemembered)
	require.False(t, knows(second), "what was not asked for longest")
	require.True(t, knows(first))
	before := h.size
	remember(first, &view{asOf: time.Now(), unfit: true})
	require.Less(t, h.size, before-32*mostNumbers/2)
	require.False(t, knows(first))
}
