package bench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func sized(rows int64, p50, p99 float64) *Result {
	return &Result{
		Name: "query/x", Plot: "query", Line: firstPages, X: float64(rows),
		Sides: []*SideResult{{Name: "lodestone", Runs: []Sample{{Latency(0.5): p50, Latency(0.99): p99}}}},
	}
}

func TestGrowthIsJudgedOverSizes(t *testing.T) {
	t.Parallel()
	r := &Report{Results: []*Result{sized(100_000_000, 15, 90), sized(1_000_000, 10, 40), sized(10_000_000, 12, 50)}}
	all := r.judged()
	require.Len(t, all, 4)
	growth := all[3]
	require.Equal(t, "query --query-rows 1000000,10000000,100000000 --only 'first page'", growth.command())
	require.Len(t, growth.Targets, 2)
	require.True(t, growth.Targets[0].Met)
	require.InDelta(t, 1.5, growth.Targets[0].Judged, 1e-9)
	require.False(t, growth.Targets[1].Met)
	require.InDelta(t, 2.25, growth.Targets[1].Judged, 1e-9)

	var text bytes.Buffer
	require.NoError(t, r.writeMarkdown(&text))
	require.Contains(t, text.String(), "| p50 within a factor of two | 15.0 ms | 10.0 | 1.50 |  | yes |")

	r.Results = r.Results[:1]
	require.Len(t, r.judged(), 1, "one size says nothing about growth")
}

// A limit that only stands beside what is judged is shown, with the ratio to it, and decides nothing.
func TestALimitBesideATarget(t *testing.T) {
	t.Parallel()
	b, order := newTestBench(1), []string(nil)
	require.NoError(t, b.Measure(t.Context(), Case{
		Name: "a", Sides: []Side{counting("system", &order, 8), counting("limit", &order, 5)},
		Targets: []Target{{What: "few", Value: Rate, Beside: "limit", AtMost: 10}},
	}))
	v := b.report.Result("a").Targets[0]
	require.True(t, v.Met)
	require.Equal(t, []string{"8.00 events/s", "5.00", "1.60", "8.00–8.00", "yes"}, v.cells())

	require.ErrorContains(t, b.Measure(t.Context(), Case{
		Name: "a", Sides: []Side{counting("system", &order, 8)}, Targets: []Target{{What: "few", Value: Rate, Beside: "nobody"}},
	}), "no side")
}

func TestCommandOfACase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"storage":                  "storage",
		"collect/embedded/one/512": "collect --only embedded/one/512",
		"collect/real/one/512":     "collect --kafka real --only real/one/512",
		"end-to-end/real":          "end-to-end --kafka real --only real",
		"sql/email inserting":      "sql --only 'email inserting'",
	} {
		require.Equal(t, want, (&Result{Name: name}).command())
	}
}

func TestATargetMayBeOfAnotherSide(t *testing.T) {
	t.Parallel()
	b, order := newTestBench(1), []string(nil)
	require.NoError(t, b.Measure(t.Context(), Case{
		Name: "a", Flags: "--rows 5",
		Sides:   []Side{counting("system", &order, 1), counting("other", &order, 7)},
		Targets: []Target{{What: "few", Of: "other", Value: Rate, AtMost: 5}},
	}))
	v := b.report.Result("a").Targets[0]
	require.InDelta(t, 7, v.Measured, 1e-9)
	require.False(t, v.Met)
	require.Equal(t, "a --rows 5", b.report.Result("a").command())

	require.Error(t, b.Measure(t.Context(), Case{
		Name: "a", Sides: []Side{counting("system", &order, 1)}, Targets: []Target{{Of: "nobody", Value: Rate}},
	}))
}
