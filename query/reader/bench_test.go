package reader_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// BenchmarkPage reads the first page of the list of an account with a million events.
func BenchmarkPage(b *testing.B) {
	conn, account := querytest.Conn(b), uuid.New()
	querytest.Fill(b, conn, account, 20_000, 1_000_000)
	readers := reader.New(enginetest.SharedPostgres(b), querytest.Scoped(b))
	for b.Loop() {
		page, err := readers.Page(b.Context(), account, reader.Filter{Order: "-score"}, 0, 20)
		require.NoError(b, err)
		require.Len(b, page.People, 20)
	}
}
