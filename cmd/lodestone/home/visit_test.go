package home

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/query/live"
)

func TestWhatARowTellsOfAVisit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		visit             live.Visit
		pages             int
		kind, facts, read string
	}{
		{live.Visit{}, 12, "opened", "opened", "............"},
		{live.Visit{Pages: []uint32{1, 2, 3, 5, 6}, ReadingMS: 9700, Downloads: 1, Started: 2}, 12, "read", "5 of 12 pages · 9.7 s · downloaded", "xxx.xx......"},
		{live.Visit{Pages: []uint32{1, 3}, ReadingMS: 83_000, Started: 1}, 3, "finished", "2 of 3 pages · 1 min 23 s · to the end · download started", "x.x"},
		{live.Visit{Pages: []uint32{1}, ReadingMS: 400}, 1, "finished", "1 of 1 page · 400 ms · to the end", "x"},
		{live.Visit{Pages: []uint32{2}, ReadingMS: 2000}, 0, "read", "1 page · 2 s", ""},
		{live.Visit{Pages: []uint32{2, 99}}, 2, "finished", "2 of 2 pages · to the end", ".x"}, // the events of a larger version that is not known
		{live.Visit{Pages: []uint32{41}}, 41, "finished", "1 of 41 pages · to the end", ""},
	} {
		var r row
		r.read(&c.visit, c.pages)
		read := []byte(strings.Repeat(".", len(r.Cells)))
		for i, on := range r.Cells {
			if on {
				read[i] = 'x'
			}
		}
		require.Equal(t, []string{c.kind, c.facts, c.read}, []string{r.Kind, r.Facts, string(read)})
	}
}
