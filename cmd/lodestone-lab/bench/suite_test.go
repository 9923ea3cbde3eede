package bench_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/bench"
	"lodestone/pkg/test/enginetest"
)

// TestBench runs each suite from its start to its end, with little data; TestBenchOnGivenEngines runs query and consume. What it finds there says nothing about
// speed; that it finds something, and says so in full, is what is tested.
func TestBench(t *testing.T) { //nolint:tparallel // beside other tests, but its suites one by one: each starts all engines
	t.Parallel()
	questions, err := filepath.Abs("../../../docs/sql.md")
	require.NoError(t, err)
	for _, suite := range []struct {
		name  string
		args  []string
		cases []string // some of those that have to be there
	}{
		{"collect", []string{"--collect-time=600ms"}, []string{"collect/embedded/one/512", "collect/embedded/batch/100", "collect/embedded/latency"}},
		{"report", []string{"--report-rows=20000", "--report-requests=1", "--report-insert-rate=400"}, []string{"report/20000/30 days", "report/20000/overview", "report/20000/pages"}},
		{"export", []string{"--export-rows=50000"}, []string{"export/csv", "export/ndjson", "export/parquet"}},
		{"shards", []string{"--shards-rows=2000"}, []string{"shards/embedded"}},
		{"end-to-end", []string{"--end-to-end-time=4s", "--end-to-end-rate=500"}, []string{"end-to-end/embedded"}},
		{"sql", []string{"--sql-rows=20000", "--sql-links=50", "--sql-questions=" + questions}, []string{"sql/email", "sql/questions", "sql/beside"}},
		{"up", []string{"--up-rows=1000", "--only=full"}, []string{"up/full"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			out, err := run(t, "lodestone-lab", append([]string{"bench", suite.name, "--quick", "--runs=1", "--json=" + file, "--dir=" + enginetest.Dir(t)}, suite.args...)...)
			require.NoError(t, err, out)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var report bench.Report
			require.NoError(t, json.Unmarshal(text, &report))
			requireSane(t, &report)
			for _, name := range suite.cases {
				r := report.Result(name)
				require.NotNil(t, r, name)
				require.Contains(t, out, "**`"+name+"`**")
				for _, v := range r.Targets {
					require.Contains(t, out, v.What)
				}
			}
		})
	}
}

// requireSane checks that each case has its sides, each side its run, and that the values are possible.
func requireSane(t *testing.T, report *bench.Report) {
	t.Helper()
	require.NotEmpty(t, report.Machine.CPU)
	require.Positive(t, report.Machine.Cores)
	for _, r := range report.Results {
		require.NotEmpty(t, r.Sides, r.Name)
		for _, side := range r.Sides {
			require.Len(t, side.Runs, 1, "%s, %s", r.Name, side.Name)
			for value, v := range side.Runs[0] {
				where := r.Name + ", " + side.Name + ", " + value
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), where)
				require.GreaterOrEqual(t, v, 0.0, where)
				if value == bench.Rate || strings.HasPrefix(value, "peak MiB ") || strings.HasSuffix(value, " ms") {
					require.Positive(t, v, where)
				}
			}
		}
		for _, v := range r.Targets {
			if !strings.HasPrefix(v.What, "CPU") { // which the kernel counts in steps of 10 ms
				require.Positive(t, v.Measured, "%s: %s", r.Name, v.What)
			}
			require.LessOrEqual(t, v.Low, v.Judged)
			require.LessOrEqual(t, v.Judged, v.High)
		}
	}
}
