package eventlist

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/query/querytest"
)

// A first page is right when it is asked for again, whatever was stored since, and wherever it is guessed to be.
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

		var events []Event // of another list, as it were
		for _, e := range w.matching(drawFilter(r, w)) {
			if rapid.Bool().Draw(r, "in the page") && int64(len(events)) < limit {
				events = append(events, Event{Position: Position{CreatedAt: time.UnixMilli(e.CreatedAt).UTC()}})
			}
		}
		at := begin.Add(time.Duration(rapid.Int64Range(0, spread).Draw(r, "asked")) * dayLength)
		lister.guesses.keep(newPageOf(w.account, f, limit), f, events, at.Add(-recent), at, tally{days: []day{}})
		ask("with a wrong guess")
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
	require.Equal(t, times[7], lister.guesses.of(newPageOf(account, Filter{}, 3)).last)
	require.Equal(t, times[9], newest())
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))
	require.NoError(t, querytest.Conn(t).Exec(synchronous, "ALTER TABLE lodestone.events DELETE WHERE account_id = '"+account.String()+
		"' AND created_at > '"+times[4].Format("2006-01-02 15:04:05")+"'"))
	require.Equal(t, times[4], newest())
	require.Equal(t, times[2], lister.guesses.of(newPageOf(account, Filter{}, 3)).last)
}

func eventsAt(times ...time.Time) (events []Event) {
	for _, t := range times {
		events = append(events, Event{Position: Position{CreatedAt: t}})
	}
	return events
}

// A page is looked for where its events were the last time, and where new ones may be.
func TestWhereAPageIsLookedForAgain(t *testing.T) {
	t.Parallel()
	known := newGuesses()
	now := time.Date(2026, 3, 9, 15, 0, 0, 0, time.UTC)
	edge := now.Add(-recent).Truncate(dayLength)
	counted := tally{days: []day{}}
	keep := func(f Filter, counted tally, times ...time.Time) *guess {
		page := newPageOf(uuid.New(), f, 2)
		known.keep(page, f, eventsAt(times...), edge, now, counted)
		return known.of(page)
	}

	look, worth := keep(Filter{}, counted, now, now.Add(-time.Minute)).where(edge, now)
	require.True(t, worth)
	require.Equal(t, now.Add(-time.Minute), *look.from)
	require.Empty(t, look.days, "all days since then")
	long := edge.AddDate(0, -3, 0).Add(time.Hour)
	g := keep(Filter{}, counted, now, long)
	look, worth = g.where(edge, now.In(time.FixedZone("", -20*3600)))
	require.True(t, worth)
	longAgo := long.Truncate(dayLength)
	require.Equal(t, longAgo, *look.from)
	today := now.Truncate(dayLength)
	require.Equal(t, []day{{start: today.AddDate(0, 0, 1)}, {start: today}, {start: longAgo}}, look.days, "the day of a page's last event as a whole")
	look, worth = g.where(edge.AddDate(0, 0, 7), now.AddDate(0, 0, 7))
	require.True(t, worth)
	require.Len(t, look.days, 10, "and all days since it was asked for")
	g = keep(Filter{}, counted, long) // all of a list
	look, worth = g.where(edge, now)
	require.True(t, worth)
	require.Equal(t, []day{{start: today.AddDate(0, 0, 1)}, {start: today}, {start: longAgo, times: []time.Time{long}}}, look.days)
	g = keep(Filter{}, counted, long.Add(2*dayLength), long)
	look, worth = g.where(edge, now)
	require.True(t, worth)
	require.Equal(t, day{start: longAgo.Add(2 * dayLength), times: []time.Time{long.Add(2 * dayLength)}}, look.days[2])
	_, worth = g.where(edge.AddDate(0, 0, 99), now.AddDate(0, 0, 99))
	require.False(t, worth, "more days than a statement names")
	known.drop(g)
	require.Nil(t, known.of(g.page))

	look, worth = keep(Filter{}, counted, now.AddDate(0, 0, 5), long).where(edge, now)
	require.True(t, worth)
	require.Equal(t, day{start: today.AddDate(0, 0, 5), times: []time.Time{now.AddDate(0, 0, 5)}}, look.days[2], "a clock was ahead")

	look, worth = keep(Filter{}, counted, now.AddDate(0, 0, 20), now.AddDate(0, 0, 10)).where(edge.AddDate(0, 0, 30), now.AddDate(0, 0, 30))
	require.True(t, worth)
	require.Equal(t, today, *look.from, "all of the days that it names, where clocks were ahead")

	var scattered []time.Time
	for i := range mostDays + 1 {
		scattered = append(scattered, now.AddDate(0, 0, -i))
	}
	require.Nil(t, keep(Filter{}, counted, scattered...), "more days than a statement names")
	require.Nil(t, keep(Filter{}, counted), "nothing was found")
	require.NotNil(t, keep(Filter{}, counted, now), "all of a short list")
	require.Nil(t, keep(Filter{From: &edge}, counted, now), "some of a list")
	require.NotNil(t, keep(Filter{From: &edge}, tally{}, now, now))
	require.Nil(t, keep(Filter{}, tally{}, now, long), "nothing would show that it holds")

	account := uuid.New()
	require.Equal(t, newPageOf(account, Filter{}, 2), newPageOf(account, Filter{From: &now}, 2), "whatever it begins with")
	require.NotEqual(t, newPageOf(account, Filter{}, 2), newPageOf(account, Filter{To: &now}, 2))
}

func TestWhetherAGuessHolds(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	on := func(offsets ...int) (list []day) {
		for _, o := range offsets {
			list = append(list, day{start: monday.AddDate(0, 0, o), events: 1})
		}
		return list
	}
	two := eventsAt(monday.Add(time.Hour), monday.AddDate(0, 0, -3).Add(time.Hour))
	since := span{from: &monday}
	require.True(t, since.holds(Filter{}, two, tally{}, 2))
	require.True(t, since.holds(Filter{From: &monday}, two, tally{}, 3), "the list begins there")
	before := monday.Add(-1)
	require.False(t, since.holds(Filter{From: &before}, two, tally{}, 3))
	require.False(t, since.holds(Filter{}, two, tally{total: 2}, 3), "there may be more before, whatever their number was a moment ago")

	days := span{from: &monday, days: on(0, -3, -7)}
	for name, c := range map[string]struct {
		counted tally
		limit   int64
		holds   bool
	}{
		"full, on days that were looked at":            {tally{days: on(0, -3, -7)}, 2, true},
		"full, and more before":                        {tally{days: on(0, -3, -6)}, 2, true},
		"full, but for a day in between":               {tally{days: on(0, -2, -3)}, 2, false},
		"full, but for a day after":                    {tally{days: on(1, 0, -3)}, 2, false},
		"full, and nobody knows the days":              {tally{total: 2}, 2, false},
		"all there is":                                 {tally{total: 2, days: on(0, -3)}, 3, true},
		"too few, and another day has some":            {tally{total: 2, days: on(0, -9)}, 3, false},
		"more than were counted, but another day, too": {tally{total: 1, days: on(-9)}, 3, false},
		"nothing counted":                              {tally{days: []day{}}, 3, true},
	} {
		require.Equal(t, c.holds, days.holds(Filter{}, two, c.counted, c.limit), name)
	}

	days.days[1].times = []time.Time{two[1].Position.CreatedAt}
	require.True(t, days.holds(Filter{}, two, tally{days: on(0, -3)}, 2), "as many on the day as were found at its times")
	more := on(0, -3)
	more[1].events = 2
	require.False(t, days.holds(Filter{}, two, tally{days: more}, 2), "one more has come on the day")
	require.False(t, days.holds(Filter{}, two[:1], tally{days: on(0, -3)}, 2), "it has left")
}
