package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// memory returns a line of the process's status in bytes: VmRSS is the current size, VmHWM the peak
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

// fetch writes an answer of the API to a file of the directory, whose path it returns.
func (u *up) fetch(path, name string) string {
	u.t.Helper()
	request, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, u.env["LODESTONE_URL"]+path, http.NoBody)
	require.NoError(u.t, err)
	request.Header.Set("Authorization", "Bearer "+u.env["LODESTONE_API_KEY"])
	answer, err := http.DefaultClient.Do(request)
	require.NoError(u.t, err)
	defer func() { require.NoError(u.t, answer.Body.Close()) }()
	require.Equal(u.t, http.StatusOK, answer.StatusCode)
	file, err := os.Create(filepath.Join(u.dir, name))
	require.NoError(u.t, err)
	_, err = io.Copy(file, answer.Body)
	require.NoError(u.t, errors.Join(err, file.Close()))
	return file.Name()
}

func TestExportOfSubmissionsAndReaders(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	owner := asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}
	magnet := owner.must(t, "POST", "/api/v1/lead-magnets", `{"title":"Guide"}`)["id"].(string)
	link := owner.must(t, "POST", "/api/v1/generic-links", `{"lead_magnet_id":"`+magnet+`"}`)["id"].(string)
	path := u.fetch("/api/v1/generic-links/"+link+"/submissions/export?format=parquet", "submissions.parquet")
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

	people := u.fetch("/api/v1/analytics/readers/export?format=parquet", "readers.parquet")
	rows, err = duckdb(t,
		"SELECT typeof(access_links) AS links, typeof(person_id) AS person, typeof(finished) AS finished FROM (SELECT * FROM '"+people+"' UNION ALL BY NAME SELECT NULL AS email) LIMIT 1")
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"links": "VARCHAR[]", "person": "UUID", "finished": "BOOLEAN"}}, rows)
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
	rows, err := duckdb(t,
		"SELECT day::VARCHAR AS day, account_id::VARCHAR AS account_id, count(*)::INT AS events, count(DISTINCT id)::INT AS ids FROM '"+to+"/events/**/*.parquet' GROUP BY ALL ORDER BY day")
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
