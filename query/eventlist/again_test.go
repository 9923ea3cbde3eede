package eventlist

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/query/querytest"
)

// A first page is right when it is asked for again, whatever was stored since.
func TestPageAskedForAgainAgreesWithModel(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	for name, w := range map[string]struct {
		begin  time.Time
		spread int64
	}{
		"of a moment long ago": {epoch, 0},
		"of four days":         {epoch, 4},
		"of two months":        {epoch, 60},
		"of now":               {now.Add(-500 * time.Millisecond), 0}, // and of a moment to come
		"since a week":         {now.AddDate(0, 0, -7).Truncate(dayLength), 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPageAskedForAgainAgreesWithModel(t, w.begin, w.spread)
		})
	}
}

func testPageAskedForAgainAgreesWithModel(t *testing.T, begin time.Time, spread int64) {
	t.Helper()
	ctx, conn := context.Background(), querytest.Conn(t)
	lister := New(querytest.Door(t))
	lister.quiet = 0 // tests beside this one add to the same months
	w := newWorld(t)
	w.begin, w.spread = begin, spread
	random := rand.New(rand.NewPCG(1, 2))
	w.store(t, conn, random, 80)
	rapid.Check(t, func(r *rapid.T) {
		f, limit := drawFilter(r, w), rapid.Int64Range(1, 30).Draw(r, "limit")
		ask := func(what string) {
			want := w.matching(f)
			page, total, err := lister.Page(ctx, w.account, f, 0, limit)
			require.NoError(r, err)
			require.EqualValues(r, len(want), total, what)
			require.Equal(r, storedIDs(want[:min(int(limit), len(want))]), ids(page), what)
		}
		ask("at first")
		ask("again")
		if n := rapid.IntRange(0, 3).Draw(r, "more"); n > 0 {
			w.store(t, conn, random, n)
			ask("after more events")
		}
		from := f.From
		f.From = nil
		ask("from the beginning")
		f.From = from
		ask("from where it was")
	})
}

// Events that leave take the end of a page with them.
func TestPageAskedForAgainAfterEventsLeft(t *testing.T) {
	t.Parallel()
	ctx, account := context.Background(), querytest.ID(t)
	lister := New(querytest.Door(t))
	begin := time.Now().UTC().Truncate(dayLength).Add(-time.Minute)
	var times []time.Time
	for i := range 10 {
		times = append(times, begin.Add(time.Duration(i)*time.Second))
	}
	storeIn(t, account, times...)
	newest := func() time.Time {
		t.Helper()
		page, _, err := lister.Page(ctx, account, Filter{}, 0, 3)
		require.NoError(t, err)
		require.Len(t, page, 3)
		return page[0].Position.CreatedAt
	}
	require.Equal(t, times[9], newest())
	require.Equal(t, times[9], newest())
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))
	require.NoError(t, querytest.Conn(t).Exec(synchronous, "ALTER TABLE lodestone.events DELETE WHERE account_id = '"+account.String()+
		"' AND created_at > '"+times[4].Format("2006-01-02 15:04:05")+"'"))
	require.Equal(t, times[4], newest())
}
