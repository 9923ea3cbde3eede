package clickhouse_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// analytics is a migrated server with two accounts' rows, its analyst, and one of the first account.
type analytics struct {
	t            *testing.T
	all, scoped  string // addresses over HTTP
	own          string // that of our own user, who may do anything
	mine, theirs uuid.UUID
	native       string // host and port
	file         string // which nobody is to read
}

func newAnalytics(t *testing.T) *analytics {
	t.Helper()
	a := &analytics{t: t, mine: uuid.New(), theirs: uuid.New(), file: filepath.Join(t.TempDir(), "passwd")}
	require.NoError(t, os.WriteFile(a.file, []byte("swordfish\n"), 0o644))
	dir := t.TempDir()
	text, err := clickhouse.Analyst{Name: "analyst_acme", Account: a.mine, Password: "of acme"}.File()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "users.d"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users.d", "acme.xml"), []byte(text), 0o600))
	server := enginetest.NewClickHouse(t, dir)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	_, err = clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	a.own, a.all = server.HTTPURL(), server.SQLURL()
	u, err := url.Parse(a.all)
	require.NoError(t, err)
	u.User = url.UserPassword("analyst_acme", "of acme")
	a.scoped = u.String()
	n, err := url.Parse(server.URL())
	require.NoError(t, err)
	a.native = n.Host
	for _, account := range []uuid.UUID{a.mine, a.theirs} {
		for _, sql := range []string{
			"INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, page, duration_ms) VALUES ('%[1]s', '%[1]s', '%[1]s', '%[1]s', '%[1]s', 'page_viewed', 1, 1000)",
			"INSERT INTO lodestone.link_views (account_id, generic_link_id, event_id) VALUES ('%[1]s', '%[1]s', '%[1]s')",
			"INSERT INTO lodestone.lead_magnets (id, account_id, title, version) VALUES ('%[1]s', '%[1]s', 'of %[1]s', 1)",
			"INSERT INTO lodestone.generic_links (id, account_id, slug, version) VALUES ('%[1]s', '%[1]s', 'of %[1]s', 1)",
			"INSERT INTO lodestone.access_links (id, account_id, version) VALUES ('%[1]s', '%[1]s', 1)",
		} {
			a.must(a.own, fmt.Sprintf(sql, account))
		}
	}
	return a
}

func (a *analytics) ask(address, sql string) (int, string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(a.t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(a.t, err)
	defer func() { require.NoError(a.t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	return resp.StatusCode, strings.TrimSpace(string(text))
}

func (a *analytics) must(address, sql string) string {
	a.t.Helper()
	status, text := a.ask(address, sql)
	require.Equal(a.t, http.StatusOK, status, "%s: %s", sql, text)
	return text
}

func TestAnalystOfAnAccountSeesNoOther(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t)
	require.Equal(t, strings.Join([]string{"access_links", "events", "generic_links", "lead_magnets", "link_views", "sessions"}, "\n"), a.must(a.scoped, "SHOW TABLES"))
	for _, view := range clickhouse.Views() {
		require.Equal(t, "2", a.must(a.all, "SELECT count() FROM "+view), view)
		for _, sql := range []string{
			"SELECT DISTINCT account_id FROM %s",
			"SELECT DISTINCT account_id FROM analytics.%s SETTINGS max_threads = 1",
			"SELECT account_id FROM (SELECT * FROM %s UNION DISTINCT SELECT * FROM %[1]s)",
			"SELECT DISTINCT b.account_id FROM %s a JOIN %[1]s b ON toString(a.account_id) > '' AND 1 = 1 AND b.account_id >= a.account_id",
			"SELECT DISTINCT b.account_id FROM (SELECT arrayJoin(['%[2]s', toString(account_id)]) AS x FROM %[1]s) a JOIN %[1]s b ON a.x = toString(b.account_id)",
			"SELECT DISTINCT b.account_id FROM (SELECT 1 AS x) a CROSS JOIN %s b",
			"SELECT any(account_id) FROM %s HAVING count() = 1",
			"WITH x AS (SELECT * FROM %s WHERE 1 OR account_id != account_id) SELECT account_id FROM x",
			"SELECT account_id FROM view(SELECT * FROM analytics.%s)",
		} {
			sql = fmt.Sprintf(strings.Replace(sql, "%s", "%[1]s", 1), view, a.theirs)
			sql, _, _ = strings.Cut(sql, "%!(EXTRA")
			require.Equal(t, a.mine.String(), a.must(a.scoped, sql), sql)
		}
		require.Equal(t, "0", a.must(a.scoped, fmt.Sprintf("SELECT count() FROM %s WHERE account_id = '%s'", view, a.theirs)))
		// Not by an error that tells what was read either.
		_, text := a.ask(a.scoped, fmt.Sprintf("SELECT throwIf(1, toString(account_id)), * FROM %s WHERE throwIf(account_id = '%s', 'found') = 0", view, a.theirs))
		require.NotContains(t, text, "found", view)
		for _, sql := range []string{
			"SELECT * FROM merge('analytics', '^%s$')", "SELECT * FROM merge(REGEXP('.*'), '^%s$')", "SELECT * FROM loop(lodestone.%s)", "SELECT * FROM lodestone.%s", "SELECT * FROM viewIfPermitted(SELECT * FROM lodestone.%s ELSE null('a Int8'))",
		} {
			_, text := a.ask(a.scoped, fmt.Sprintf(sql, view))
			require.NotContains(t, text, a.theirs.String(), sql)
		}
	}
	status, text := a.ask(a.scoped, "SELECT account_id FROM events SETTINGS additional_table_filters = {'analytics.events': '1'}")
	require.GreaterOrEqual(t, status, 400, text)
	a.must(a.own, "CREATE VIEW analytics.later DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM lodestone.events")
	status, text = a.ask(a.scoped, "SELECT * FROM later")
	require.GreaterOrEqual(t, status, 400, "what a later release shows is not for scoped users until they are given it: %s", text)
}

// What a person with the analyst's password may try, on the schema as it is.
func TestAnalystCannotGetOut(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t)
	host := strings.TrimPrefix(a.own[strings.LastIndexByte(a.own, '@')+1:], "http://")
	for _, address := range []string{a.all, a.scoped} {
		for _, sql := range escapes(a.file, host, a.native) {
			status, text := a.ask(address, sql)
			if status < 400 || strings.Contains(text, "swordfish") {
				t.Errorf("%s: %d %s", sql, status, text)
			}
		}
		// These have answers, without anything in them.
		for _, sql := range []string{
			"SELECT name FROM system.databases", "SELECT name FROM system.tables WHERE database NOT IN ('analytics', 'system', 'INFORMATION_SCHEMA', 'information_schema')",
			"SELECT name FROM system.columns WHERE database = 'lodestone'",
			"SHOW TABLES FROM lodestone", "SHOW DATABASES", "SELECT name FROM system.dictionaries", "SELECT * FROM system.mutations", "SELECT * FROM system.replicas",
		} {
			_, text := a.ask(address, sql)
			require.NotContains(t, text, "lodestone\n", sql)
			require.NotContains(t, text, "kafka_offset", sql)
		}
	}
	require.Equal(t, "2", a.must(a.all, "SELECT count() FROM merge(REGEXP('.*'), 'events')"), "the view's rows, and not the table's")
	require.Equal(t, "2", a.must(a.own, "SELECT count() FROM lodestone.events"))
	require.NoFileExists(t, a.file+".copy")
	// With settings in the address, as HTTP clients send them.
	for _, setting := range []string{"readonly=0", "max_memory_usage=0", "max_rows_to_read=0", "max_execution_time=0", "allow_ddl=1", "role=lodestone", "max_concurrent_queries_for_user=100", "os_thread_priority=-20", "log_comment=x&max_threads=100"} {
		status, text := a.ask(a.all+"&"+setting, "SELECT 1")
		require.GreaterOrEqual(t, status, 400, "%s: %s", setting, text)
	}
}

func TestLimitsOfTheAnalyst(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t)
	for sql, why := range map[string]string{
		"SELECT number FROM numbers(2000000)":                                                          "TOO_MANY_ROWS",
		"SELECT count() FROM numbers(100000000000) WHERE NOT ignore(number)":                           "TOO_MANY_ROWS",
		"SELECT groupArray(number) FROM numbers(900000000)":                                            "MEMORY_LIMIT",
		"SELECT count() FROM numbers(1000000) WHERE NOT ignore(number) SETTINGS max_rows_to_read = 10": "TOO_MANY_ROWS",
	} {
		status, text := a.ask(a.all+"&wait_end_of_query=1", sql)
		require.GreaterOrEqual(t, status, 400, sql)
		require.Contains(t, text, why, sql)
	}
	require.Equal(t, "60 600 20000000000\n3600 10000 20000000000", strings.ReplaceAll(a.must(a.own,
		"SELECT duration, max_queries, (SELECT max(max_read_rows) FROM system.quota_limits WHERE quota_name = 'analyst') FROM system.quota_limits WHERE quota_name = 'analyst' ORDER BY duration"), "\t", " "))
	require.Equal(t, "8", a.must(a.all, "SELECT getSetting('max_concurrent_queries_for_user')"))
	require.Equal(t, "19", a.must(a.all, "SELECT getSetting('os_thread_priority')"))
}

// As Grafana's plugin and programs in Go connect, with the settings that they send.
func TestAnalystByDriver(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t)
	u, err := url.Parse(a.all)
	require.NoError(t, err)
	password, _ := u.User.Password()
	for _, protocol := range []native.Protocol{native.Native, native.HTTP} {
		host := u.Host
		if protocol == native.Native {
			host = a.native
		}
		conn, err := native.Open(&native.Options{
			Addr: []string{host}, Protocol: protocol, Auth: native.Auth{Database: "analytics", Username: "analyst", Password: password},
			Settings: native.Settings{"max_execution_time": 60},
		})
		require.NoError(t, err)
		var rows uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM sessions WHERE account_id = ?", a.mine).Scan(&rows), protocol)
		require.EqualValues(t, 1, rows)
		require.Error(t, conn.Exec(t.Context(), "INSERT INTO analytics.events (page) VALUES (1)"))
		require.NoError(t, conn.Close())
	}
}

func TestNamesOfAnalysts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "analyst", "lodestone", "default", "a b", "a><b", "Ä", "a-b", strings.Repeat("a", 64)} {
		_, err := clickhouse.Analyst{Name: name, Account: uuid.New(), Password: "x"}.File()
		require.ErrorContains(t, err, "--name", name)
	}
	_, err := clickhouse.Analyst{Name: "a", Password: "x"}.File()
	require.ErrorContains(t, err, "--account")
	_, err = clickhouse.Analyst{Name: "a", Account: uuid.New()}.File()
	require.ErrorContains(t, err, "password")
}

// escapes are statements that read files, networks, other databases or the server's own tables, or
// change something. host and native are the server's own addresses: what they reach is there.
func escapes(file, host, native string) []string {
	_, port, err := net.SplitHostPort(native)
	if err != nil {
		port = native
	}
	list := []string{
		"SELECT 1 INTO OUTFILE '" + file + ".copy'",
		"SELECT * FROM input('a Int8')",
		"SELECT dictGet('lodestone.d', 'a', 1)", "SELECT joinGet('lodestone.events', 'page', 1)", "SELECT 1 IN lodestone.events",
		"SELECT * FROM lodestone.events", "SELECT * FROM lodestone.access_links FINAL", "SELECT count() FROM lodestone.goose_db_version",
		"EXPLAIN SELECT * FROM lodestone.events", "DESCRIBE TABLE lodestone.events", "SHOW CREATE TABLE lodestone.events",
		"USE lodestone", "EXISTS lodestone.events",
		"SELECT * FROM view(SELECT * FROM lodestone.events)", "SELECT * FROM merge('lodestone', '.*')",
		"SELECT * FROM mergeTreeIndex('lodestone', 'events')", "SELECT * FROM mergeTreeProjection('lodestone', 'events', 'by_offset')",
		"CREATE TABLE analytics.t (a Int8) ENGINE = Memory", "CREATE TEMPORARY TABLE t (a Int8)", "CREATE DATABASE d", "CREATE VIEW analytics.v AS SELECT 1",
		"CREATE FUNCTION f AS x -> x", "CREATE DICTIONARY analytics.d (a UInt64) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)",
		"CREATE USER u", "CREATE ROW POLICY p ON analytics.events USING 1 TO ALL", "ALTER USER analyst IDENTIFIED BY 'x'", "SET ROLE lodestone", "CREATE NAMED COLLECTION c AS a = 1",
		"INSERT INTO lodestone.events (page) VALUES (1)", "INSERT INTO analytics.events (page) VALUES (1)", "INSERT INTO FUNCTION null('a Int8') VALUES (1)",
		"INSERT INTO FUNCTION url('http://" + host + "/', 'CSV', 'a Int8') VALUES (1)",
		"ALTER TABLE lodestone.events DELETE WHERE 1", "DELETE FROM lodestone.events WHERE 1", "UPDATE lodestone.events SET page = 1 WHERE 1",
		"TRUNCATE TABLE lodestone.events", "DROP VIEW analytics.events", "RENAME TABLE analytics.events TO analytics.e",
		"OPTIMIZE TABLE lodestone.events", //nolint:misspell // the server spells it
		"ATTACH TABLE lodestone.x", "DETACH VIEW analytics.events", "BACKUP DATABASE analytics TO Disk('default', 'x')", "CHECK TABLE lodestone.events",
		"KILL QUERY WHERE 1 SYNC", "KILL MUTATION WHERE 1", "SYSTEM SHUTDOWN", "SYSTEM STOP MERGES lodestone.events", "SYSTEM RELOAD CONFIG", "SYSTEM DROP MARK CACHE", "SYSTEM FLUSH LOGS",
		"GRANT SELECT ON *.* TO analyst", "EXECUTE AS lodestone SELECT 1", "SET readonly = 0", "SET max_memory_usage = 0",
		"SELECT 1 SETTINGS readonly = 2", "SELECT 1 SETTINGS max_memory_usage = 0", "SELECT 1 SETTINGS max_memory_usage_for_user = 0", "SELECT 1 SETTINGS max_rows_to_read = 0",
		"SELECT 1 SETTINGS max_threads = 2", "SELECT 1 SETTINGS max_bytes_to_read = 0", "SELECT 1 SETTINGS max_execution_time = 121", "SELECT 1 SETTINGS max_result_bytes = 0", "SELECT 1 SETTINGS os_thread_priority = 0",
		"SELECT 1 SETTINGS timeout_overflow_mode = 'break'", "SELECT 1 SETTINGS format_schema = 'x'", "SELECT 1 SETTINGS allow_introspection_functions = 1",
		"SELECT addressToLine(1)", "SELECT getServerSetting('max_server_memory_usage'), * FROM system.server_settings",
		"SELECT catboostEvaluate('" + file + "', 1)",
	}
	for _, table := range []string{
		"users", "roles", "grants", "quotas", "settings_profiles", "row_policies", "processes", "query_log", "parts", "parts_columns", "server_settings",
		"merges", "disks", "storage_policies", "clusters", "macros", "metrics", "asynchronous_metrics", "events", "errors", "text_log", "session_log", "replicas",
		"stack_trace", "named_collections", "query_cache", "user_processes", "detached_parts", "zookeeper", "remote_data_paths", "data_skipping_indices", "projections",
	} {
		list = append(list, "SELECT * FROM system."+table+" LIMIT 1 FORMAT JSON SETTINGS max_threads = 1")
	}
	for _, call := range []string{
		"file('" + file + "', 'LineAsString')", "fileCluster('default', '" + file + "', 'LineAsString')", "filesystem('/')", "sqlite('" + file + "', 't')", "python('x')",
		"url('http://" + host + "/', 'LineAsString')", "urlCluster('default', 'http://" + host + "/', 'LineAsString')", "s3('http://" + host + "/x', 'CSV')", "s3Cluster('default', 'http://" + host + "/x', 'CSV')",
		"gcs('http://" + host + "/x', 'CSV')", "azureBlobStorage('http://" + host + "', 'c', 'p', 'a', 'k', 'CSV')", "hdfs('hdfs://" + host + "/x', 'CSV')", "deltaLake('http://" + host + "/x')", "iceberg('http://" + host + "/x')", "hudi('http://" + host + "/x')",
		"deltaLakeLocal('" + file + "')", "icebergLocal('" + file + "')", "paimonLocal('" + file + "')",
		"remote('127.0.0.1:" + port + "', 'lodestone.events', 'lodestone', 'x')", "remoteSecure('127.0.0.1:" + port + "', 'lodestone.events')", "cluster('default', 'lodestone.events')", "clusterAllReplicas('default', 'lodestone.events')",
		"postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')", "mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", "mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'x Int8')", "redis('127.0.0.1:1', 'k', 'k String')",
		"jdbc('x', 'y')", "odbc('DSN=x', 'y', 'z')", "arrowFlight('127.0.0.1:1', 'x')", "ytsaurus('http://127.0.0.1:1', '//x', 'y', 'a Int8')",
		"executable('x', 'TSV', 'a Int8')", "dictionary('lodestone.d')", "loop(lodestone.events)", "timeSeriesData('lodestone', 'x')",
	} {
		list = append(list, "SELECT * FROM "+call)
	}
	for _, expression := range []string{"file('" + file + "')", "arrayMap(file, ['" + file + "'])", "arrayMap(x -> `file`(x), ['" + file + "'])", "`FILE`('" + file + "')", "file('" + file + "', 'else')"} {
		list = append(list, "SELECT "+expression)
	}
	return list
}
