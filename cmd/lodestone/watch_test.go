package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/file"
	"lodestone/pkg/blob"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/test"
	"lodestone/query/export"
)

// requireWatched fails unless a process that has just started shows every metric that
// docs/operations.md says to watch, with its labels: an alarm on the increase misses the first
// value of a series that was not there.
func requireWatched(t *testing.T, metrics string) {
	t.Helper()
	document, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(document), "## What to watch\n")
	require.True(t, found)
	table, _, _ := strings.Cut(rest, "\n## ")
	name := regexp.MustCompile("`(lodestone_[a-z_]+)(?:\\{([^}]*)\\})?`")
	watched := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, metric := range name.FindAllStringSubmatch(cells[1], -1) {
			watched++
			series := `(?m)^` + metric[1] + `(\{| )`
			if metric[2] != "" {
				var labels []string
				for label := range strings.SplitSeq(metric[2], ",") {
					label, value, _ := strings.Cut(label, "=")
					if value == "" {
						value = `"[^"]+"`
					}
					labels = append(labels, label+"="+value)
				}
				series = `(?m)^` + metric[1] + `\{[^}]*` + strings.Join(labels, `[^}]*`)
			}
			require.Regexp(t, series, metrics, "docs/operations.md names %s", metric[0])
		}
	}
	require.Greater(t, watched, 25)
}

// secureMetrics returns what a listener of TLS shows besides.
func secureMetrics(t *testing.T) string {
	t.Helper()
	server, registry := test.NewAuthority(t).Issue("server"), prometheus.NewRegistry()
	_, err := certificate.Server{Cert: server.Cert, Key: server.Key}.Open(certificate.Deps{Name: "site",
		Log: slog.New(slog.DiscardHandler), Registerer: registry})
	require.NoError(t, err)
	return exposed(registry)
}

// optionalMetrics returns what processes show besides if a daily export and a bucket for files are
// set.
func optionalMetrics(t *testing.T) string {
	t.Helper()
	registry, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	c := clickhouse.Config{URL: "clickhouse://127.0.0.1:1/lodestone"}
	days, err := export.NewArchive(export.ArchiveConfig{To: t.TempDir(), Interval: time.Minute, Timeout: time.Minute,
		MemoryBytes: 1 << 30}, export.ArchiveDeps{ClickHouse: c, HTTP: "http://127.0.0.1:1", Log: log, Registerer: registry})
	require.NoError(t, err)
	_, err = file.New(file.Config{Store: "s3://files/", S3: blob.Config{Endpoint: "http://127.0.0.1:1", AccessKey: "x",
		SecretKey: "x"}}, file.Deps{Log: log})
	require.NoError(t, err)
	page := exposed(registry)
	require.NoError(t, days.Close())
	return page
}

// exposed returns what a process with these metrics answers to Prometheus.
func exposed(registry *prometheus.Registry) string {
	page := httptest.NewRecorder()
	httpserver.Admin(registry, nil, httpserver.AdminConfig{}).ServeHTTP(page,
		httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	return page.Body.String()
}

// requireDocumented requires that docs/metrics.md has every metric of the program, and that the
// alerts of deploy/prometheus ask for no other.
func requireDocumented(t *testing.T, metrics string) {
	t.Helper()
	histograms, rows := map[string]bool{}, map[string]string{}
	var names []string
	for _, m := range regexp.MustCompile(
		`(?m)^# HELP ((?:lodestone|pgxpool)_\S+) (.*)\n# TYPE \S+ (\S+)\n[^ {]+(?:\{(.*)\})? `).FindAllStringSubmatch(metrics,
		-1) {
		name, help, kind := m[1], m[2], m[3]
		var labels []string
		for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[4], -1) {
			if l[1] != "le" {
				labels = append(labels, "`"+l[1]+"`")
			}
		}
		names, histograms[name] = append(names, name), kind == "histogram"
		rows[name] = fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, kind, strings.Join(labels, ", "), help)
	}
	slices.Sort(names)
	names = slices.Compact(names) // Several pools have metrics of the same names.
	var table strings.Builder
	table.WriteString("| Metric | Type | Labels | What it says |\n|---|---|---|---|\n")
	for _, name := range names {
		table.WriteString(rows[name])
	}
	const file = "../../docs/metrics.md"
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, found := strings.Cut(string(document), "| Metric |")
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+table.String()), 0o600))
	} else {
		require.Equal(t, before+table.String(), string(document),
			"go test ./cmd/lodestone -run TestUpFromTheFirstStart -update writes it")
	}
	rules, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`lodestone_[a-z_]+`).FindAllString(string(rules), -1) {
		_, exists := rows[name]
		of := regexp.MustCompile(`_(count|bucket)$`).ReplaceAllString(name, "")
		require.True(t, exists || histograms[of], "an alert asks for %s, which is no metric", name)
	}
}
