package report

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// An answer that is too large is refused while its rows arrive, not when all of them are there.
func TestTooManyRowsAreNotCollected(t *testing.T) {
	t.Parallel()
	for set, most := range map[int]int{setCell: MaxRows, setRow: MaxRows / 20} {
		p, wrong := compile(Question{
			Metrics: []string{"readers"}, From: "2026-03-01", To: "2026-03-21", Interval: Day,
			Dimensions: []string{"access_link_id"}, Limit: MaxLimit, Compare: true,
		}, "", time.Now())
		require.Empty(t, wrong)
		c := collector{plan: &p, path: "queries[3].", cells: map[cellKey]*cell{}}
		add := func(i int, now bool, n float64) error {
			return c.add(set, now, 0, true, []string{strconv.Itoa(i)}, []float64{n}, 1)
		}
		for i := range most {
			require.NoError(t, add(i, true, 1))
			require.NoError(t, add(i, true, 1), "it is the same row")
			require.NoError(t, add(i+MaxRows, true, 0), "nothing was counted")
			require.NoError(t, add(i, false, 1), "it is of the time before")
		}
		err := add(most, true, 1)
		var tooLarge *TooLargeError
		require.ErrorAs(t, err, &tooLarge)
		require.Equal(t, "queries[3].limit", tooLarge.Field)
		require.Len(t, c.cells, most+1)
	}
}

// Who asks for too many rows learns which limit to lower.
func TestQuestionOfTooManyRows(t *testing.T) {
	t.Parallel()
	account := querytest.ID(t)
	querytest.Fill(t, querytest.Conn(t), account, 997, 50_000)
	r := New(querytest.Scoped(t))
	q := Question{Metrics: []string{"events"}, From: "2025-10-01", To: "2025-10-21", Interval: Day,
		Dimensions: []string{"access_link_id"}, Limit: MaxLimit}
	answers, err := r.Answer(t.Context(), account, []Question{q}, []string{""})
	require.NoError(t, err)
	require.Len(t, answers[0].Rows, 20*997)
	q.To = "2025-10-22"
	_, err = r.Answer(t.Context(), account, []Question{q}, []string{""})
	require.ErrorContains(t, err, "limit leads to more than 20000 rows: ask for fewer rows, longer intervals or less time")
}
