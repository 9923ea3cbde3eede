package eventlist

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func TestQuestionsOfAFirstPageAreThoseOfItsList(t *testing.T) {
	t.Parallel()
	ctx, account, door := context.Background(), querytest.ID(t), querytest.Door(t)
	lister := New(door)
	lister.quiet, lister.many = 0, -1 // any month has many events
	now := time.Now().UTC()
	storeIn(t, account, now, now.Add(-time.Minute), monthStart(201706))
	questions := func(f Filter) (q Questions) {
		t.Helper()
		require.Eventually(t, func() (ok bool) { // tests beside this one change other months
			var err error
			q, ok, err = lister.FirstPage(ctx, account, f, 2)
			require.NoError(t, err)
			return ok
		}, patience, 10*time.Millisecond)
		return q
	}
	q := questions(Filter{})
	require.Equal(t, "by_day", q.Number.Projection, "as the list counts it")
	require.True(t, q.Parts)
	page, err := lister.read(ctx, account, q.Page)
	require.NoError(t, err)
	require.Len(t, page, 2)
	var counted tally
	require.NoError(t, lister.days(ctx, account, q.Number, &counted, false))
	require.EqualValues(t, 2, counted.total, "the rest is remembered")

	far := now.AddDate(80, 0, 0)
	page, err = lister.read(ctx, account, questions(Filter{From: &far}).Page)
	require.NoError(t, err)
	require.Empty(t, page)

	link := querytest.ID(t)
	q = questions(Filter{AccessLinkID: &link})
	require.Equal(t, "by_link", q.Number.Projection)
	require.False(t, q.Parts, "nothing is remembered of links")

	lister.history.Set(account, &view{open: scope.Opening(now), unfit: true})
	q = questions(Filter{})
	require.Equal(t, totalStatement(Filter{}), q.Number)
	require.False(t, q.Parts, "nothing is remembered of the account")
	bot := true
	require.Equal(t, daysStatement(Filter{Bot: &bot}), questions(Filter{Bot: &bot}).Number)
}
