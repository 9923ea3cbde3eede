package history

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone/demo"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	short, err := excerpt(demo.Guide(), []int{2, 12})
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(short, bytes.TrimRight(demo.Guide(), "\n")), "an incremental update changes nothing before it")
	added := string(short[len(demo.Guide()):])
	require.Contains(t, added, "/Count 2\n")
	require.Contains(t, added, "/Prev ")
	_, err = excerpt(demo.Guide(), []int{12, 13})
	require.ErrorContains(t, err, "12 pages")
	_, err = excerpt([]byte("%PDF-1.4\n%%EOF\n"), []int{1})
	require.Error(t, err)
}
