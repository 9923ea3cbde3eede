//go:build long

package query_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// The server writes a file of any size in little memory.
func TestExportTakesLittleMemoryOfTheServer(t *testing.T) {
	t.Parallel()
	c := config()
	c.MaxMemoryBytes = 64 << 20
	s, _ := serve(t, c, enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	querytest.Fill(t, querytest.Conn(t), account, 1000, 1_000_000)
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		got := s.stalled(account, format)
		n, err := io.Copy(io.Discard, got.Body)
		require.NoError(t, err, format)
		require.Greater(t, n, int64(20<<20))
	}
}
