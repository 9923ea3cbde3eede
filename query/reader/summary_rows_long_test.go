//go:build long

package reader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// What a summary truly reads, by the server's count of rows: of an account's 40,000 sessions (a row
// each and kind of event), those of the links asked for. A granule has 1,024.
func TestSummaryRowsRead(t *testing.T) {
	t.Parallel()
	ch, account, filled := querytest.Alone(t, 2000, 400_000)
	rows := querytest.RowsRead(t, ch, account, viewsOfLinks(filled.Links[100:103]))
	require.LessOrEqual(t, rows, uint64(6*1024))
	require.Positive(t, rows)
}
