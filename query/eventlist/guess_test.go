package eventlist

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/query/querytest"
)

// A page that is asked for again is right, whatever was stored or deleted since.
func TestPageAskedForAgainAgreesWithModel(t *testing.T) {
	t.Parallel()
	for _, spread := range []int64{0, 4, 60} {
		t.Run(fmt.Sprintf("%d days", spread), func(t *testing.T) {
			t.Parallel()
			testPageAskedForAgainAgreesWithModel(t, spread)
		})
	}
}

func testPageAskedForAgainAgreesWithModel(t *testing.T, spread int64) {
	t.Helper()
	ctx, conn := context.Background(), querytest.Conn(t)
	lister := New(querytest.Door(t))
	lister.quiet = 0 // tests beside this one add to the same months
	w := newWorld(t)
	w.spread = spread
	random := rand.New(rand.NewPCG(1, 2))
	w.store(t, conn, random, 80)
	rapid.Check(t, func(r *rapid.T) {
		f, limit := drawFilter(r, w), rapid.IntRange(1, 30).Draw(r, "limit")
		ask := func(what string) {
			want := w.matching(f)
			page, total, err := lister.Page(ctx, w.account, f, 0, int64(limit))
			require.NoError(r, err)
			require.EqualValues(r, len(want), total, what)
			require.Equal(r, storedIDs(want[:min(limit, len(want))]), ids(page), what)
			if len(page) < limit {
				return
			}
			rest, _, err := lister.After(ctx, w.account, f, page[limit-1].Position, int64(limit))
			require.NoError(r, err)
			require.Equal(r, storedIDs(want[limit:min(2*limit, len(want))]), ids(rest), what+", the page after it")
		}
		ask("at first")
		ask("again")
		if n := rapid.IntRange(0, 3).Draw(r, "more"); n > 0 {
			w.store(t, conn, random, n)
			ask("after more events")
		}
		begin := f.From
		f.From = nil
		ask("from the beginning")
		f.From = begin
		ask("from where it was")
	})
}

// Events that leave take the end of a page with them.
func TestPageAskedForAgainAfterEventsLeft(t *testing.T) {
	t.Parallel()
	ctx, account := context.Background(), querytest.ID(t)
	lister := New(querytest.Door(t))
	begin := monthStart(201706)
	var times []time.Time
	for i := range 10 {
		times = append(times, begin.Add(time.Duration(i)*dayLength))
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
	require.NotNil(t, lister.guesses.of(newPageOf(account, Filter{}, nil, 3)))
	require.Equal(t, times[9], newest())
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))
	require.NoError(t, querytest.Conn(t).Exec(synchronous, "ALTER TABLE lodestone.events DELETE WHERE account_id = '"+account.String()+"' AND created_at > '2017-06-05'"))
	require.Equal(t, times[3].Add(dayLength), newest())
}

// A page looks for its events where they were the last time, and where new ones may be.
func TestWhereAPageLooksAgain(t *testing.T) {
	t.Parallel()
	known, account := newGuesses(), querytest.ID(t)
	now := time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)
	edge := now.Add(-recent).Truncate(dayLength)
	at := func(times ...time.Time) (events []Event) {
		for _, t := range times {
			events = append(events, Event{Position: Position{CreatedAt: t}})
		}
		return events
	}
	page := newPageOf(account, Filter{}, nil, 2)
	keep := func(p pageOf, times ...time.Time) *guess {
		known.keep(p, at(times...))
		return known.of(p)
	}

	s, worth := keep(page, now, now.Add(-time.Minute)).span(nil, edge, now)
	require.True(t, worth)
	require.Equal(t, now.Add(-time.Minute), *s.from)
	require.Empty(t, s.days, "all days since then")

	longAgo := edge.AddDate(0, -3, 0).Add(time.Hour)
	g := keep(page, now, longAgo)
	s, worth = g.span(nil, edge, now)
	require.True(t, worth)
	require.Equal(t, longAgo, *s.from)
	require.Equal(t, []time.Time{edge.AddDate(0, 0, 3), edge.AddDate(0, 0, 2), edge.AddDate(0, 0, 1), edge, longAgo.Truncate(dayLength)}, starts(s.days))
	_, worth = g.span(&Position{CreatedAt: now}, edge, now)
	require.False(t, worth, "how many events of a day come after a place in it is not counted")

	var scattered []time.Time
	for i := range mostDays {
		scattered = append(scattered, now.AddDate(0, 0, -i))
	}
	_, worth = keep(page, scattered...).span(nil, edge, now)
	require.False(t, worth, "more days than a statement names")

	require.Nil(t, keep(newPageOf(account, Filter{}, nil, 3)), "nothing was found")
	later := newPageOf(account, Filter{}, &Position{CreatedAt: now}, 3)
	require.Nil(t, keep(later, now.Add(-time.Hour)), "the end of a list")
	require.NotNil(t, keep(later, now, now, now.Add(-time.Hour)))
	require.Equal(t, page, newPageOf(account, Filter{From: &now}, nil, 2), "whatever the list begins with")
	require.NotEqual(t, page, newPageOf(account, Filter{To: &now}, nil, 2))
}
