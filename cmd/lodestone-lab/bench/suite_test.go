package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// TestBench runs each suite from its start to its end, with little data. The test checks that each
// case measures and reports; the values say nothing about speed.
func TestBench(t *testing.T) { //nolint:tparallel // beside other tests, but its suites one by one: each starts all engines
	t.Parallel()
	for _, suite := range []struct {
		name  string
		args  []string
		cases []string // some of those that have to be there
	}{
		{"collect", []string{"--collect-time=600ms"}, []string{"collect/embedded/one/512", "collect/embedded/batch/100",
			"collect/embedded/latency"}},
		{"consume", []string{"--consume-rows=2000", "--consume-partitions=4"}, []string{"consume/embedded/4"}},
		{"query", []string{"--query-rows=20000", "--query-requests=1"}, []string{"query/20000/first page"}},
		{"report", []string{"--report-rows=20000", "--report-requests=1"},
			[]string{"report/20000/30 days", "report/20000/overview", "report/20000/pages"}},
		{"export", []string{"--export-rows=50000"}, []string{"export/csv", "export/ndjson", "export/parquet"}},
		{"end-to-end", []string{"--end-to-end-time=4s", "--end-to-end-rate=500"}, []string{"end-to-end/embedded"}},
		{"sql", []string{"--sql-rows=20000"}, []string{"sql/email", "sql/beside"}},
		{"up", nil, []string{"up"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			out, err := run(t, "lodestone-lab",
				append([]string{"bench", suite.name, "--quick", "--runs=1", "--dir=" + enginetest.Dir(t)}, suite.args...)...)
			require.NoError(t, err, out)
			for _, name := range suite.cases {
				require.Contains(t, out, "**`"+name+"`**")
			}
			require.NotContains(t, out, "NaN")
			require.NotContains(t, out, "Inf")
		})
	}
}
