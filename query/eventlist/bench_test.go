package eventlist

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// BenchmarkList reads pages of 20 and counts of an account that has most of a million events. The
// server's tables are as inserts leave them, so figures fall a little as it merges.
func BenchmarkList(b *testing.B) {
	ctx := context.Background()
	conn, lister := querytest.Conn(b), New(querytest.Scoped(b))
	account := querytest.ID(b)
	const events = 800_000
	filled := querytest.Fill(b, conn, account, 5000, events)
	querytest.Fill(b, conn, querytest.ID(b), 1000, 200_000)
	from := time.Unix(querytest.Begin+100*3600, 0)
	to, late := from.Add(24*time.Hour), time.Unix(querytest.Begin+events-3600, 0)
	human := false
	for _, c := range []struct {
		name string
		f    Filter
	}{
		{"all", Filter{}},
		{"link", Filter{AccessLinkID: &filled.Links[17]}},
		{"magnet", Filter{LeadMagnetID: &filled.Magnets[17]}},
		{"type", Filter{Type: event.DownloadStarted}},
		{"no-bots", Filter{Bot: &human}},
		{"day", Filter{From: &from, To: &to}},
		{"link-day", Filter{AccessLinkID: &filled.Links[17], From: &from, To: &to}},
		{"received-after", Filter{ReceivedAfter: &late}},
	} {
		b.Run("page/"+c.name, func(b *testing.B) {
			for b.Loop() {
				page, _, err := lister.Page(ctx, account, c.f, 0, 21)
				require.NoError(b, err)
				require.NotEmpty(b, page)
			}
		})
		b.Run("count/"+c.name, func(b *testing.B) {
			for b.Loop() {
				n, err := lister.Count(ctx, account, c.f)
				require.NoError(b, err)
				require.Positive(b, n)
			}
		})
	}
	for _, c := range []struct {
		name   string
		offset int64
	}{{"page-100", 2_000}, {"page-20000", 400_000}} {
		b.Run("offset/"+c.name, func(b *testing.B) {
			for b.Loop() {
				page, _, err := lister.Page(ctx, account, Filter{}, c.offset, 21)
				require.NoError(b, err)
				require.Len(b, page, 21)
			}
		})
		b.Run("cursor/"+c.name, func(b *testing.B) {
			before, _, err := lister.Page(ctx, account, Filter{}, c.offset-1, 1)
			require.NoError(b, err)
			for b.Loop() {
				page, _, err := lister.After(ctx, account, Filter{}, before[0].Position, 21)
				require.NoError(b, err)
				require.Len(b, page, 21)
			}
		})
	}
}
