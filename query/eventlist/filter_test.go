package eventlist

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// Every field of Filter, and every set of them, filters counts, pages and the stream alike, and has
// a cursor of its own. A field that is added has to be added here; if a statement misses it, this
// fails.
func TestEveryFieldFilters(t *testing.T) {
	t.Parallel()
	ctx, conn, lister := context.Background(), querytest.Conn(t), New(querytest.Scoped(t))
	w := newWorld(t)
	w.spread = 6
	w.store(t, conn, rand.New(rand.NewPCG(3, 4)), 400)
	bot := false
	from, to := w.begin.Add(2*dayLength+100*time.Millisecond), w.begin.Add(5*dayLength+200*time.Millisecond)
	received := w.begin.Add(3*dayLength + 300*time.Millisecond)
	examples := reflect.ValueOf(Filter{
		AccessLinkID: &w.links[0], LeadMagnetID: &w.magnets[0], Type: event.PageViewed,
		From: &from, To: &to, ReceivedAfter: &received, Bot: &bot,
	})
	fields := examples.NumField()
	cursors := map[string]bool{}
	for set := range 1 << fields {
		n := bits.OnesCount(uint(set))
		var f Filter
		for i := range fields {
			require.False(t, examples.Field(i).IsZero(), "%s has no example", examples.Type().Field(i).Name)
			if set>>i&1 == 1 {
				reflect.ValueOf(&f).Elem().Field(i).Set(examples.Field(i))
			}
		}
		cursors[f.Cursor(w.account, Position{}, w.begin).List] = true
		if n > 2 && n < fields {
			continue // each alone, each with each, and all of them
		}
		want := w.matching(f)
		require.NotEmpty(t, want, "%+v", f)
		if n == 1 {
			require.Less(t, len(want), len(w.events), "%+v leaves nothing out", f)
		}
		half := len(want) / 2
		page, total, err := lister.Page(ctx, w.account, f, 0, int64(half)+1)
		require.NoError(t, err)
		require.EqualValues(t, len(want), total, "%+v", f)
		require.Equal(t, storedIDs(want[:half+1]), ids(page), "%+v", f)
		if n == 2 {
			continue
		}
		total, err = lister.Count(ctx, w.account, f)
		require.NoError(t, err)
		require.EqualValues(t, len(want), total, "%+v", f)
		deep, _, err := lister.Page(ctx, w.account, f, int64(half)+1, 1000)
		require.NoError(t, err)
		require.Equal(t, storedIDs(want[half+1:]), ids(deep), "%+v", f)
		after, _, err := lister.After(ctx, w.account, f, page[half].Position, 1000)
		require.NoError(t, err)
		require.Equal(t, storedIDs(want[half+1:]), ids(after), "%+v", f)
		first, err := lister.Stored(ctx, []uuid.UUID{w.account}, f, time.Time{}, latest, nil, half+1)
		require.NoError(t, err)
		others, err := lister.Stored(ctx, []uuid.UUID{w.account}, f, time.Time{}, latest, &first[half].Position, 1000)
		require.NoError(t, err)
		require.ElementsMatch(t, storedIDs(want), ids(append(first, others...)), "%+v", f)
	}
	require.Len(t, cursors, 1<<fields, "a cursor belongs to one filter")
}
