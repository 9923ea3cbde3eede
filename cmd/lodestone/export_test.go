package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// duckdb returns the rows of a statement in DuckDB.
func duckdb(t *testing.T, sql string) (rows []map[string]any, err error) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("duckdb", "node_modules", ".package-lock.json")); err != nil {
		require.Fail(t, "DuckDB is not installed: `make duckdb-tools` does it", err.Error())
	}
	cmd := exec.CommandContext(t.Context(), "node", "read.js", sql)
	cmd.Dir = "duckdb"
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	for line := range bytes.Lines(out) {
		var row map[string]any
		require.NoError(t, json.Unmarshal(line, &row))
		rows = append(rows, row)
	}
	return rows, nil
}

// fill stores so many events of the demo account, as the consumer would.
func (u *up) fill(events int) uuid.UUID {
	u.t.Helper()
	_, body := get(u.t, u.env["LODESTONE_URL"]+"/api/v1/account", u.env["LODESTONE_API_KEY"])
	var account struct{ ID uuid.UUID }
	require.NoError(u.t, json.Unmarshal([]byte(body), &account))
	conn := enginetest.Open(u.t, clickhouse.Config{URL: u.env["LODESTONE_CLICKHOUSE_URL"]})
	querytest.Fill(u.t, conn, account.ID, 1000, events)
	return account.ID
}

// memory returns a line of the process's status in bytes: VmRSS is what it has now, VmHWM the most
// since the start or reset.
func (p *program) memory(line string) int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	found := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(p.t, found)
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	require.NoError(p.t, err)
	return kilobytes << 10
}

func (p *program) resetPeak() {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0))
}

func TestExportOfSubmissionsAndReaders(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	owner := asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}
	magnet := owner.must(t, "POST", "/api/v1/lead-magnets", `{"title":"Guide"}`)["id"].(string)
	link := owner.must(t, "POST", "/api/v1/generic-links", `{"lead_magnet_id":"`+magnet+`"}`)["id"].(string)
	path := filepath.Join(u.dir, "submissions.parquet")
	export := launch(t, u.dir, nil, "export", "submissions", "--data", filepath.Join(u.dir, "data"), "--format", "parquet", "--output", path, link)
	require.Zero(t, export.wait(), "%s", export.out)
	rows, err := duckdb(t, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '"+path+"')")
	require.NoError(t, err)
	types := map[string]any{}
	for _, row := range rows {
		types[row["column_name"].(string)] = row["column_type"]
	}
	require.Equal(t, "UUID", types["id"])
	require.Equal(t, "VARCHAR", types["email"])
	require.Equal(t, "BOOLEAN", types["verified"])
	require.Equal(t, "TIMESTAMP WITH TIME ZONE", types["submitted_at"])
	require.Equal(t, "VARCHAR", types["utm_source"])

	people := filepath.Join(u.dir, "readers.parquet")
	export = launch(t, u.dir, nil, "export", "readers", "--data", filepath.Join(u.dir, "data"), "--format", "parquet", "--output", people)
	require.Zero(t, export.wait(), "%s", export.out)
	rows, err = duckdb(t, "SELECT typeof(access_links) AS links, typeof(person_id) AS person, typeof(finished) AS finished FROM (SELECT * FROM '"+people+"' UNION ALL BY NAME SELECT NULL AS email) LIMIT 1")
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"links": "VARCHAR[]", "person": "UUID", "finished": "BOOLEAN"}}, rows)
}

// A file that breaks off is an error, and leaves nothing that looks like a file.
func TestExportLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	path := filepath.Join(dir, "events.csv")
	require.NoError(t, os.WriteFile(path, []byte("of yesterday"), 0o600))
	err := runExport(t, "events", "--data", dir, "--url", server.URL, "--api-key", "secret", "--output", path)
	require.ErrorContains(t, err, "the file is not complete")
	require.NotContains(t, err.Error(), "secret")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "of yesterday", string(text))

	err = runExport(t, "events", "--data", dir)
	require.True(t, config.IsInvalid(err), "%v", err)
}

// runExport runs `lodestone export` in this process.
func runExport(t *testing.T, args ...string) error {
	t.Helper()
	command, err := parse(append([]string{"export"}, args...))
	require.NoError(t, err)
	command.BindTo(t.Context(), (*context.Context)(nil))
	return command.Run()
}

// The daily export of a running `lodestone up` is read as one table by DuckDB, with the account and
// the day from the names.
func TestDailyExport(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample"}
	u.start()
	const days = 1 // and the beginning of the next
	account := u.fill(days * 86_400)
	to := filepath.Join(u.dir, "archive")
	for range 2 {
		daily := launch(t, u.dir, nil, "export", "daily", "--once", "--data", filepath.Join(u.dir, "data"), "--export-to", to)
		require.Zero(t, daily.wait(), "%s", daily.out)
	}
	rows, err := duckdb(t, "SELECT day::VARCHAR AS day, account_id::VARCHAR AS account_id, count(*)::INT AS events, count(DISTINCT id)::INT AS ids FROM '"+to+"/events/**/*.parquet' GROUP BY ALL ORDER BY day")
	require.NoError(t, err)
	require.Len(t, rows, days+1, "the last events were stored some seconds after the last day")
	total := 0.0
	for i, row := range rows {
		require.Equal(t, account.String(), row["account_id"])
		require.Equal(t, time.Unix(querytest.Begin, 0).UTC().AddDate(0, 0, i).Format(time.DateOnly), row["day"])
		require.Equal(t, row["events"], row["ids"])
		total += row["events"].(float64)
	}
	require.InDelta(t, days*86_400, total, 0)
}
