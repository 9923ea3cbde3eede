package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// sqlServer returns the analyst's address of a migrated server.
func sqlServer(t *testing.T) string {
	t.Helper()
	enginetest.MigratedClickHouse(t)
	return enginetest.Server(t).SQLURL()
}

func TestSQLInEveryForm(t *testing.T) {
	t.Parallel()
	address := sqlServer(t)
	dir := t.TempDir()
	for format, want := range map[string]string{
		"auto":     "\"n\",\"s\"\n0,\"x\"\n1,\"x\"\n",
		"csv":      "\"n\",\"s\"\n0,\"x\"\n1,\"x\"\n",
		"tsv":      "n\ts\n0\tx\n1\tx\n",
		"json":     "{\"n\":0,\"s\":\"x\"}\n{\"n\":1,\"s\":\"x\"}\n",
		"table":    "   ┌─n─┬─s─┐\n1. │ 0 │ x │\n2. │ 1 │ x │\n   └───┴───┘\n",
		"vertical": "Row 1:\n──────\nn: 0\ns: x\n\nRow 2:\n──────\nn: 1\ns: x\n",
	} {
		path := filepath.Join(dir, format)
		c := &sqlCommand{URL: address, Format: format, Output: path, Query: "SELECT number AS n, 'x' AS s FROM numbers(2)"}
		require.NoError(t, c.Run(t.Context()), format)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(text), format)
	}
	path := filepath.Join(dir, "parquet")
	require.NoError(t, (&sqlCommand{URL: address, Format: "parquet", Output: path,
		Query: "SELECT 1 AS a"}).Run(t.Context()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(text, []byte("PAR1")) && bytes.HasSuffix(text, []byte("PAR1")))

	// The query's own form goes before.
	require.NoError(t, (&sqlCommand{URL: address, Format: "csv", Output: path,
		Query: "SELECT 1 AS a FORMAT TSV"}).Run(t.Context()))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1\n", string(text))
}

// runSQL runs `lodestone sql` in this process.
func runSQL(t *testing.T, args ...string) error {
	t.Helper()
	command, err := parse(append([]string{"sql"}, args...))
	require.NoError(t, err)
	command.BindTo(t.Context(), (*context.Context)(nil))
	return command.Run()
}

func TestSQLTakesTheSettingsOfUp(t *testing.T) {
	t.Parallel()
	data, path := t.TempDir(), filepath.Join(t.TempDir(), "answer")
	_, err := writeEnvFile(data, []envLine{{"LODESTONE_SQL_URL", sqlServer(t)}})
	require.NoError(t, err)
	require.NoError(t, runSQL(t, "--data", data, "--format", "tsv", "--output", path,
		"SELECT currentUser() AS who, currentDatabase() AS here"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "who\there\nanalyst\tanalytics\n", string(text))

	err = runSQL(t, "--data", t.TempDir(), "SELECT 1")
	require.True(t, config.IsInvalid(err))
	require.ErrorContains(t, err, "LODESTONE_SQL_URL")
}

func TestSQLErrorsArePlainAndHoldNoSecret(t *testing.T) {
	t.Parallel()
	address := sqlServer(t)
	_, password, _ := strings.Cut(strings.TrimPrefix(address, "http://analyst"), ":")
	password, _, _ = strings.Cut(password, "@")
	require.NotEmpty(t, password)
	unused := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	for _, c := range []struct{ url, query, want string }{
		{address, "SELEKT 1", "Syntax error"},
		{address, "SELECT nothing FROM events", "Unknown expression identifier `nothing`"},
		{address, "SELECT * FROM lodestone.events", "Not enough privileges"},
		{address, "SELECT throwIf(number = 1500000, 'at the end') FROM numbers(1600000) LIMIT 10 OFFSET 1500000",
			"at the end"},
		{strings.Replace(address, password, "wrong", 1), "SELECT 1", "does not know this user and password"},
		{strings.Replace(address, "database=analytics", "database=nowhere", 1), "SELECT 1", "no such database"},
		{"http://analyst:" + password + "@" + unused + "/", "SELECT 1", "cannot reach ClickHouse at " + unused},
		{"http://analyst:" + password + "@%zz/", "SELECT 1", "--sql-url"},
		{"clickhouse://analyst:" + password + "@h/", "SELECT 1", "--sql-url"},
	} {
		path := filepath.Join(t.TempDir(), "answer")
		err := (&sqlCommand{URL: c.url, Format: "csv", Output: path, Query: c.query}).Run(t.Context())
		require.ErrorContains(t, err, c.want, c.query)
		require.NotContains(t, err.Error(), password)
		require.NotContains(t, err.Error(), "DB::Exception", "it is for people")
		require.NoFileExists(t, path)
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client, err := newSQLClient(address)
	require.NoError(t, err)
	require.ErrorIs(t, client.write(ctx, "SELECT 1", "TSV", io.Discard), context.Canceled)
}

// Visitors choose the text of user agents and referrers.
func TestSQLShowsNothingThatSteersTheTerminal(t *testing.T) {
	t.Parallel()
	client, err := newSQLClient(sqlServer(t))
	require.NoError(t, err)
	var shown bytes.Buffer
	require.NoError(t, client.show(t.Context(), `SELECT 'a\x1b]0;title\x07b\x7f\xc2\x9bc' AS x`, "Vertical", &shown))
	require.Contains(t, shown.String(), "a\uFFFD]0;title\uFFFDb\uFFFD\uFFFDc")
}

func TestSQLUserOfAnAccount(t *testing.T) {
	t.Parallel()
	account := uuid.New()
	created := launch(t, t.TempDir(), nil, "sql-user", "--name", "analyst_acme", "--account", account.String())
	require.Zero(t, created.wait())
	require.Contains(t, created.out.String(), fmt.Sprintf("account_id = toUUID('%s')", account))
	require.Contains(t, created.out.String(), "Password of analyst_acme")
	wrong := launch(t, t.TempDir(), nil, "sql-user", "--name", "Not one", "--account", account.String())
	require.Equal(t, exitSettings, wrong.wait())
	require.Contains(t, wrong.out.String(), "--name")

	answer := launch(t, t.TempDir(), []string{"LODESTONE_SQL_URL=" + sqlServer(t)}, "sql", "SELECT 6 * 7 AS answer")
	require.Zero(t, answer.wait())
	require.Equal(t, "\"answer\"\n42\n", answer.out.String(), "CSV where no terminal is")
}

// Entities that the API creates and changes are soon visible in SQL, and deleted ones are not, in
// `up` as in processes of their own: the same function starts the consumer.
func TestSQLFollowsTheAPI(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	api := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	title := "Guide " + uuid.NewString()
	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: title})
	require.NoError(t, err)
	_, err = api.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: magnet.ID, Email: "ada@example.com"})
	require.NoError(t, err)
	await := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			path := filepath.Join(u.dir, "answer")
			err := runSQL(t, "--data", filepath.Join(u.dir, "data"), "--output", path,
				"SELECT title, countIf(email IS NULL) AS unnamed FROM access_links JOIN lead_magnets USING (lead_magnet_id) WHERE title = '"+title+"' GROUP BY title FORMAT TSV")
			if err != nil {
				return false
			}
			text, err := os.ReadFile(path)
			return err == nil && string(text) == want
		}, enginetest.Timeout, seldom)
	}
	await(title + "\t1\n")
	require.NoError(t, api.DeleteLeadMagnet(t.Context(), magnet.ID, true))
	await("")
}
