package grafanacheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/stretchr/testify/require"
)

// promQuery is a query of Grafana's plugin for Prometheus.
type promQuery struct {
	RefID        string     `json:"refId"`
	Datasource   datasource `json:"datasource"`
	EditorMode   string     `json:"editorMode"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat"`
	Range        bool       `json:"range"`
}

// Every panel of the dashboard for operators shows something of a program that has the metrics of
// docs/metrics.md, which is held against a running one.
func TestPanelsOfOperationHaveTheProgramsMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(folder + "/dashboards/" + operation)
	require.NoError(t, err)
	var board dashboard.Dashboard //nolint:staticcheck // because files that Grafana provisions are of this schema; version 2 is of its API
	require.NoError(t, json.Unmarshal(text, &board))
	requireNoOverlap(t, operation, board.Panels)
	store := promqltest.LoadedStorage(t, "load 30s\n"+series(t))
	defer func() { require.NoError(t, store.Close()) }()
	engine := promqltest.NewTestEngine(t, false, 0, 100_000)
	for _, p := range board.Panels {
		for _, target := range p.Panel.Targets {
			raw, err := json.Marshal(target)
			require.NoError(t, err)
			decoder := json.NewDecoder(bytes.NewReader(raw))
			decoder.DisallowUnknownFields()
			var q promQuery
			require.NoError(t, decoder.Decode(&q), "%s: %s", *p.Panel.Title, raw)
			require.Equal(t, datasource{"prometheus", "${datasource}"}, q.Datasource)
			expr := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(q.Expr)
			query, err := engine.NewInstantQuery(t.Context(), store, nil, expr, time.Unix(1800, 0))
			require.NoError(t, err, expr)
			result := query.Exec(t.Context())
			require.NoError(t, result.Err, expr)
			values, err := result.Vector()
			require.NoError(t, err, expr)
			require.NotEmpty(t, values, "%s shows nothing: %s", *p.Panel.Title, expr)
			parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(q.LegendFormat, -1) {
				require.NotEmpty(t, values[0].Metric.Get(m[1]), "%s: the legend names %s, which %s does not have",
					*p.Panel.Title, m[1], parsed)
			}
		}
	}
}

// series are those of a process that has every metric of docs/metrics.md, with each label.
func series(t *testing.T) string {
	t.Helper()
	document, err := os.ReadFile("../../../docs/metrics.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\|").FindAllStringSubmatch(string(document), -1)
	require.Greater(t, len(rows), 80)
	rows = slices.Concat(rows, [][]string{
		{"", "up", "gauge", ""}, {"", "process_cpu_seconds_total", "counter", ""}, {"", "process_resident_memory_bytes",
			"gauge", ""}, {"", "process_open_fds", "gauge", ""},
	})
	var b strings.Builder
	for _, r := range rows {
		pairs := []string{`job="lodestone"`, `instance="a"`}
		for _, l := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(r[3], -1) {
			value := "x"
			if r[1] == "lodestone_kafka_connects_total" {
				value = "failed"
			}
			pairs = append(pairs, fmt.Sprintf("%s=%q", l[1], value))
		}
		labels := strings.Join(pairs, ",")
		switch r[2] {
		case "gauge":
			fmt.Fprintf(&b, "  %s{%s} 0x100\n", r[1], labels)
		case "counter":
			fmt.Fprintf(&b, "  %s{%s} 0+1x100\n", r[1], labels)
		case "histogram":
			for _, le := range []string{"1", "+Inf"} {
				fmt.Fprintf(&b, "  %s_bucket{%s,le=%q} 0+1x100\n", r[1], labels, le)
			}
			fmt.Fprintf(&b, "  %s_count{%s} 0+1x100\n  %s_sum{%s} 0+1x100\n", r[1], labels, r[1], labels)
		default:
			t.Fatalf("a metric of type %s", r[2])
		}
	}
	return b.String()
}
