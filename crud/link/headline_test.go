package link

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/store"
)

// The values are those of pbeta(0.5, one + 1, other + 1, lower.tail = FALSE) of R.
func TestCertaintyOfHeadlines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		one, other int64
		want       float64
	}{
		{0, 0, 0.5}, {1, 0, 0.75}, {5, 5, 0.5}, {15, 5, 0.9867}, {60, 40, 0.9770}, {40, 60, 0.0230}, {1000, 1000, 0.5},
		{100_000, 99_000, 0.9875},
	} {
		require.InDelta(t, test.want, better(test.one, test.other), 0.0005, test)
		require.InDelta(t, 1, better(test.one, test.other)+better(test.other, test.one), 1e-6)
	}
}

func TestHeadlinesAreJudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b int64
		want decision
	}{{0, 0, Early}, {0, 19, Early}, {0, 20, FirstB}, {20, 1, FirstA}, {50, 50, Open}, {40, 60, FirstB}, {45, 55, Open}} {
		h := compare(store.GenericLink{HeadlineB: new("B")}, "A", []store.CountHeadlinesRow{
			{Second: true, Submissions: 100, Finished: test.b}, {Submissions: 90, Finished: test.a}})
		require.Equal(t, test.want, h.Decision, test)
		require.Equal(t, Headline{"A", 90, test.a}, h.A)
		require.Equal(t, Headline{"B", 100, test.b}, h.B)
	}
}
