package eventlist

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// Whatever happens to the table, what is remembered says the same as the model, for every filter and pair of filters and any
// others. The months are the test's own, but parts of other tests come and go beside them.
func TestWhatIsRememberedAgreesWithModel(t *testing.T) {
	t.Parallel()
	ctx, conn := context.Background(), querytest.Conn(t)
	for seed, m := range []measures{usual, {tail: 15, few: 1_000_000, first: 10}, {tail: 25, few: 30, first: 10}} {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			t.Parallel()
			lister := New(querytest.Door(t))
			lister.measures = m
			random := rand.New(rand.NewPCG(uint64(seed), 5))
			worlds := []*world{newWorld(t), newWorld(t)}
			for _, w := range worlds {
				w.begin, w.spread = time.Date(2001+seed, 1, 20, 0, 0, 0, 0, time.UTC), 40
				w.links, w.magnets = worlds[0].links, worlds[0].magnets
			}
			months := []string{fmt.Sprint(200101 + seed*100), fmt.Sprint(200102 + seed*100)}
			exec := func(sql string) { require.NoError(t, conn.Exec(ctx, sql)) }
			mutate := func(month, change, where string) {
				exec("ALTER TABLE lodestone.events " + change + " IN PARTITION ID '" + month + "' WHERE " + where)
				requireMutated(t, conn, month)
			}
			lose := func(w *world, lost func(querytest.Stored) bool) { w.events = slices.DeleteFunc(w.events, lost) }
			steps := []func(){
				func() { merge(t, conn, months[random.IntN(2)]) },
				func() { // a few late ones, that are merged before anybody looks
					worlds[0].store(t, conn, random, 3)
					merge(t, conn, months[0])
				},
				func() {
					w, day := worlds[random.IntN(2)], worlds[0].begin.AddDate(0, 0, random.IntN(40))
					mutate(fmt.Sprint(monthOf(day)), "DELETE", "account_id = '"+w.account.String()+"' AND toDate(created_at) = '"+day.Format(time.DateOnly)+"'")
					lose(w, func(e querytest.Stored) bool { return time.UnixMilli(e.CreatedAt).UTC().Truncate(dayLength).Equal(day) })
				},
				func() {
					w, link := worlds[random.IntN(2)], worlds[0].links[random.IntN(5)]
					for _, month := range months {
						mutate(month, "UPDATE bot = 'another rule'", "account_id = '"+w.account.String()+"' AND access_link_id = '"+link.String()+"'")
					}
					for i := range w.events {
						if w.events[i].AccessLinkID == link {
							w.events[i].Bot = "another rule"
						}
					}
				},
				func() {
					exec("ALTER TABLE lodestone.events DROP PARTITION ID '" + months[1] + "'")
					for _, w := range worlds {
						lose(w, func(e querytest.Stored) bool {
							return fmt.Sprint(monthOf(time.UnixMilli(e.CreatedAt).UTC())) == months[1]
						})
					}
				},
			}
			for i := range 15 {
				if i%3 == 2 {
					steps[(i/3)%len(steps)]()
				} else {
					worlds[random.IntN(2)].store(t, conn, random, 1+random.IntN(40))
				}
				for n := range 4 {
					requireAgrees(t, lister, worlds[n%2], rapid.Custom(func(r *rapid.T) Filter { return drawFilter(r, worlds[0]) }).Example(100*i+n), random)
				}
				if i == 14 {
					for n, f := range pairs(worlds[0], random) {
						requireAgrees(t, lister, worlds[n%2], f, random)
					}
				}
			}
		})
	}
}

// merge merges a month to one part. Partitions that other tests drop meanwhile cancel that.
func merge(t *testing.T, conn driver.Conn, month string) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		err = conn.Exec(context.Background(), "OPTIMIZE TABLE lodestone.events PARTITION ID '"+month+"' FINAL") //nolint:misspell // SQL has it so
		return err == nil
	}, time.Minute, time.Millisecond, "%v", err)
}

// requireMutated waits for the mutations of a month. Partitions that other tests drop meanwhile cancel them for a while.
func requireMutated(t *testing.T, conn driver.Conn, month string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var n uint64
		err := conn.QueryRow(context.Background(), "SELECT count() FROM system.mutations WHERE NOT is_done AND table = 'events' AND command LIKE '%''"+month+"''%'").Scan(&n)
		require.NoError(t, err)
		return n == 0
	}, time.Minute, 20*time.Millisecond)
}

// pairs returns a filter of each kind, and every pair of them.
func pairs(w *world, random *rand.Rand) []Filter {
	bot, after := random.IntN(2) == 0, w.begin.Add(time.Duration(random.Int64N(int64(50*dayLength))))
	from, to := after.Add(-15*dayLength), after.Add(10*dayLength)
	kinds := []func(f *Filter){
		func(f *Filter) { f.AccessLinkID = &w.links[random.IntN(5)] }, func(f *Filter) { f.LeadMagnetID = &w.magnets[random.IntN(3)] },
		func(f *Filter) { f.Type = 1 }, func(f *Filter) { f.From = &from }, func(f *Filter) { f.To = &to },
		func(f *Filter) { f.ReceivedAfter = &after }, func(f *Filter) { f.Bot = &bot },
	}
	list := []Filter{{}}
	for i, a := range kinds {
		for _, b := range kinds[i:] {
			var f Filter
			a(&f)
			b(&f)
			list = append(list, f)
		}
	}
	return list
}

// requireAgrees compares a first page, the page after it, one by number, and the number, with the model.
func requireAgrees(t *testing.T, lister *Lister, w *world, f Filter, random *rand.Rand) {
	t.Helper()
	ctx, want, limit := context.Background(), w.matching(f), 1+random.IntN(30)
	part := func(begin int) []querytest.Stored { return want[min(begin, len(want)):min(begin+limit, len(want))] }
	page, total, err := lister.Page(ctx, w.account, f, 0, int64(limit))
	require.NoError(t, err)
	require.EqualValues(t, len(want), total, "%+v", f)
	require.Equal(t, storedIDs(part(0)), ids(page), "%+v", f)
	if len(page) == 0 {
		return
	}
	next, total, err := lister.After(ctx, w.account, f, page[len(page)-1].Position, int64(limit))
	require.NoError(t, err)
	require.EqualValues(t, len(want), total, "%+v", f)
	require.Equal(t, storedIDs(part(len(page))), ids(next), "%+v", f)
	offset := random.IntN(len(want))
	page, total, err = lister.Page(ctx, w.account, f, int64(offset), int64(limit))
	require.NoError(t, err)
	require.EqualValues(t, len(want), total, "%+v", f)
	require.Equal(t, storedIDs(part(offset)), ids(page), "%+v", f)
}

// Requests at the same time, while events come in and parts are merged, are answered from moments that do not go back: what was stored before a
// request began is in its answer.
func TestWhatIsRememberedIsNeverOlderThanTheRequest(t *testing.T) {
	t.Parallel()
	ctx, conn, lister := context.Background(), querytest.Conn(t), New(querytest.Door(t))
	w := newWorld(t)
	w.begin, w.spread = time.Date(2009, 6, 1, 0, 0, 0, 0, time.UTC), 20
	random := rand.New(rand.NewPCG(3, 9))
	for round := range 12 {
		w.store(t, conn, random, 20)
		stored := int64(len(w.events))
		var group errgroup.Group
		for range 6 {
			group.Go(func() error {
				page, total, err := lister.Page(ctx, w.account, Filter{}, 0, 1000)
				if err == nil && (total < stored || int64(len(page)) != total) {
					err = fmt.Errorf("%d events in a page and %d in all of %d", len(page), total, stored)
				}
				return err
			})
		}
		if round%2 == 0 {
			merge(t, conn, "200906")
		}
		if round%3 == 0 {
			w.store(t, conn, random, 10)
		}
		require.NoError(t, group.Wait())
	}
}

// What the parts of a month say of what is known of it.
func TestParts(t *testing.T) {
	t.Parallel()
	part := func(low, high int64, rows uint64) scope.Part {
		return scope.Part{Month: 202601, Name: fmt.Sprintf("202601_%d_%d_0", low, high), Low: low, High: high, Rows: rows}
	}
	mutated := func(p scope.Part) scope.Part { p.Mutated = true; return p }
	known := knownMonth{parts: []scope.Part{part(1, 4, 40), part(5, 5, 10), part(7, 7, 20)}}
	later := part(5, 5, 10)
	later.Written = 1
	for name, c := range map[string]struct {
		now   []scope.Part
		fresh int
		ok    bool
	}{
		"the same":                     {known.parts, 0, true},
		"a new one":                    {append(slices.Clone(known.parts), part(8, 8, 1)), 1, true},
		"two are merged":               {[]scope.Part{part(1, 5, 50), part(7, 7, 20)}, 0, true},
		"all are merged":               {[]scope.Part{part(1, 7, 70)}, 0, true},
		"two are merged, and one new":  {[]scope.Part{part(1, 5, 50), part(7, 7, 20), part(8, 9, 3)}, 1, true},
		"merged with one between them": {[]scope.Part{part(1, 4, 40), part(5, 7, 31)}, 1, false},
		"merged, and some lost":        {[]scope.Part{part(1, 5, 49), part(7, 7, 20)}, 1, false},
		"mutated":                      {[]scope.Part{part(1, 4, 40), mutated(part(5, 5, 10)), part(7, 7, 20)}, 1, false},
		"one is gone":                  {known.parts[:2], 0, false},
		"another of the same name":     {[]scope.Part{part(1, 4, 40), later, part(7, 7, 20)}, 0, true},
		"emptied":                      {[]scope.Part{part(1, 7, 0)}, 1, false},
	} {
		fresh, ok := known.unread(c.now)
		require.Equal(t, c.ok, ok, name)
		require.Len(t, fresh, c.fresh, name)
	}
	marked := knownMonth{parts: []scope.Part{mutated(part(1, 4, 40))}}
	_, ok := marked.unread([]scope.Part{part(1, 4, 40)})
	require.False(t, ok, "rows of what was mutated may be marked as deleted, and leave with a merge")

	v := &view{months: map[uint32]knownMonth{202601: known}}
	require.True(t, v.survives([]scope.Part{part(7, 7, 20)}))
	require.False(t, v.survives([]scope.Part{part(1, 7, 70)}), "the server may have begun to count anew")
}
