package layout_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	minLines = 100 // of a package, without tests
	maxFiles = 20  // of a package, without tests
)

// small are the packages with fewer lines than minLines, and why each is a package of its own.
var small = map[string]string{
	"cmd/lodestone-engines":                  "a program",
	"cmd/lodestone-lab":                      "a program",
	"cmd/lodestone-lab/alertcheck":           "tests of the alerts",
	"cmd/lodestone-lab/composecheck":         "tests of the compose file",
	"cmd/lodestone-lab/dbtcheck":             "tests of the models of dbt",
	"cmd/lodestone-lab/grafanacheck":         "tests of the dashboards of Grafana",
	"cmd/lodestone-lab/openidcheck":          "tests of signing in by OpenID Connect",
	"cmd/lodestone-lab/openidcheck/provider": "the provider of these tests runs in a process of its own",
	"cmd/lodestone-lab/overlay":              "every part of the laboratory builds the product with it",
	"cmd/lodestone-lab/upgrade":              "tests of upgrades",
	"deploy/helm/test":                       "tests of the Helm chart, a module",
	"ingest/consumer/consumertest":           "tests of four packages of ingest share it",
	"pkg/build":                              "programs and parts share it, and it is of none of them",
	"pkg/locale":                             "all pages and mails share it",
	"pkg/password":                           "crud/capture, crud/link and crud/share share it",
	"pkg/plan":                               "cmd, crud and ingest share it",
	"pkg/test/countrytest":                   "only tests of countries need its module",
}

// large are the packages with more files than maxFiles, and why.
var large = map[string]string{
	"cmd/lodestone": "a file for each subcommand",
	"pkg/store":     "sqlc writes a file for each file of statements",
}

// A package is a room: with a few lines it is a name to learn for nothing, and with many files no
// one finds a thing in it.
func TestSizeOfPackages(t *testing.T) {
	t.Parallel()
	lines, count := map[string]int{}, map[string]int{}
	for _, f := range files(t) {
		if filepath.Ext(f) == ".go" && !strings.HasSuffix(f, "_test.go") && !strings.Contains(f, "/testdata/") {
			text := read(t, f)
			if !bytes.HasPrefix(text, []byte("//go:build ignore")) {
				lines[filepath.Dir(f)] += bytes.Count(text, []byte("\n"))
				count[filepath.Dir(f)]++
			}
		}
	}
	require.Greater(t, len(count), 50)
	for _, p := range slices.Sorted(maps.Keys(count)) {
		if n := lines[p]; (n < minLines) != (small[p] != "") {
			t.Errorf("%s has %d lines: join packages below %d to the ones they serve, or say in small why not; above, take them off", p, n, minLines)
		}
		if n := count[p]; (n > maxFiles) != (large[p] != "") {
			t.Errorf("%s has %d files: split packages above %d, or say in large why not; below, take them off", p, n, maxFiles)
		}
	}
	for p := range maps.Keys(small) {
		require.Contains(t, count, p, "small names a package that is gone")
	}
}
