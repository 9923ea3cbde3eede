//go:build long

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A million events go into files of each format, which DuckDB reads, and take little memory on the
// way.
func TestExportOfAMillionEvents(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample"}
	u.start()
	const events = 1_000_000
	u.fill(events)
	before := u.memory("VmRSS")
	u.resetPeak()
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		path := u.fetch("/api/v1/analytics/export?format="+format, "events."+format)
		table := "'" + path + "'"
		if format == "ndjson" {
			table = "read_json(" + table + ")"
		}
		rows, err := duckdb(t,
			"SELECT count(*)::INT AS events, count(DISTINCT id)::INT AS ids, count(DISTINCT access_link_id)::INT AS links, count(bot)::INT AS bots,"+
				" (count(*) FILTER (WHERE event_type = 'page_viewed'))::INT AS views, sum(page)::DOUBLE AS pages, min(created_at)::VARCHAR AS first FROM "+table)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		first := rows[0]["first"].(string)
		require.Contains(t, first, "2025-10-01")
		delete(rows[0], "first")
		require.Equal(t, map[string]any{"events": 1e6, "ids": 1e6, "links": 1e3, "bots": 5e4, "views": 9e5,
			"pages": 15499900.0}, rows[0], format)
	}
	require.LessOrEqual(t, u.memory("VmHWM")-before, int64(64<<20), "more memory than before the exports")

	whole, err := os.ReadFile(filepath.Join(u.dir, "events.parquet"))
	require.NoError(t, err)
	cut := filepath.Join(u.dir, "cut.parquet")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)/2], 0o600))
	_, err = duckdb(t, "SELECT count(*) FROM '"+cut+"'")
	require.ErrorContains(t, err, "No magic bytes found")
}
