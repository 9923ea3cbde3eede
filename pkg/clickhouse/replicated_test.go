//go:build long

package clickhouse_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// The statements of a shard of replicas, which no test can run: the embedded ClickHouse has no replicated tables. They are those of one
// server with other engines and windows.
func TestStatementsOfReplicas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migrations/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	lines := regexp.MustCompile(`(?m)^.*(ENGINE = |deduplication_window).*$`)
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		replicated := clickhouse.Replicated(up)
		require.NotRegexp(t, `ENGINE = (Replacing|Summing|Aggregating)?MergeTree`, replicated, "%s: every table is replicated", file)
		before, after := strings.Split(up, "\n"), strings.Split(replicated, "\n")
		require.Len(t, after, len(before))
		for i := range before {
			if before[i] != after[i] {
				require.Regexp(t, lines, after[i], "%s: only the engine and the window differ", file)
				b.WriteString(filepath.Base(file) + ": " + strings.TrimSpace(after[i]) + "\n")
			}
		}
	}
	b.WriteString("\n" + clickhouse.VersionTable() + "\n" + strings.Join(clickhouse.Fence(), ";\n") + ";\n")
	const golden = "testdata/replicated.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "run with -update")
}
