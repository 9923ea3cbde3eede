package reader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// BenchmarkSummary is the summary of an address with 1,000 of an account's 5,000 links, which have
// 800,000 events.
func BenchmarkSummary(b *testing.B) {
	pool, conn := enginetest.SharedPostgres(b), querytest.Conn(b)
	r, account := NewSummaries(pool, querytest.Scoped(b)), newAccount(b, pool)
	filled := querytest.Fill(b, conn, account, 5000, 800_000)
	storeLinks(b, pool, account, filled, func(link int) string {
		if link < 1000 {
			return "ann@example.com"
		}
		return "bob@example.com"
	})
	ann := address(b, "ann@example.com")
	b.ReportAllocs()
	for b.Loop() {
		got, err := r.Read(b.Context(), account, ann, nil)
		require.NoError(b, err)
		require.EqualValues(b, 1000, got.TotalLinks)
	}
}
