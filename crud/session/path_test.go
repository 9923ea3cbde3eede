package session_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/session"
	"lodestone/pkg/store"
)

// burst returns sessions of one browser that began one after the other, each in a link of its own.
func burst(n int, every time.Duration, duration func(i int) int64) []store.PathsRow {
	began := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var list []store.PathsRow
	for i := range n {
		list = append(list, store.PathsRow{ID: uuid.New(), AccessLinkID: uuid.New(), Client: 7, Pages: []int32{1, 2},
			DurationMs: duration(i), StartedAt: began.Add(time.Duration(i) * every), Over: true})
	}
	return list
}

func same(int) int64 { return 5_000 }

func count(found []bool) (n int) {
	for _, is := range found {
		if is {
			n++
		}
	}
	return n
}

func TestAlikeSessionsAreARow(t *testing.T) {
	t.Parallel()
	require.Equal(t, 40, count(session.Alike(burst(40, time.Second, same))))
	require.Zero(t, count(session.Alike(burst(39, time.Second, same))))
	require.Equal(t, 200, count(session.Alike(burst(200, 15*time.Second, same))), "ten minutes at a time, to the last")
	require.Zero(t, count(session.Alike(burst(200, 16*time.Second, same))), "38 in ten minutes")
	for _, ms := range []int64{0, 200, 5_000, 60_000, 3_600_000} { // within 5 % and 250 ms
		spread := func(i int) int64 { return ms + (ms/20+250)*int64(i)/40 }
		require.Equal(t, 40, count(session.Alike(burst(40, time.Second, spread))), ms)
		apart := func(i int) int64 { return ms + (ms/20+250)*int64(i) }
		require.Zero(t, count(session.Alike(burst(200, time.Second, apart))), ms)
	}

	again := burst(80, time.Second, same) // someone who opens a link again and again
	for i := range again {
		again[i].AccessLinkID = again[i%39].AccessLinkID
	}
	require.Zero(t, count(session.Alike(again)))
	again[60].AccessLinkID = uuid.New()
	require.Equal(t, 80, count(session.Alike(again)))

	for name, differ := range map[string]func(*store.PathsRow){
		"account": func(s *store.PathsRow) { s.AccountID = uuid.New() },
		"client":  func(s *store.PathsRow) { s.Client++ },
		"pages":   func(s *store.PathsRow) { s.Pages = []int32{1} },
		"over":    func(s *store.PathsRow) { s.Over = false }, // the last 39 are judged when their own first is
	} {
		two := burst(79, time.Second, same)
		for i := range two {
			if i >= 39 {
				differ(&two[i])
			}
		}
		want := map[string]int{"account": 0, "client": 40, "pages": 40, "over": 79}[name]
		require.Equal(t, want, count(session.Alike(two)), name)
	}
}

func BenchmarkAlike(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			list := burst(n, time.Millisecond, same)
			for b.Loop() {
				session.Alike(list)
			}
		})
	}
}
