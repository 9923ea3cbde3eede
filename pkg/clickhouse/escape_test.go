package clickhouse_test

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Codes of exceptions that are refusals.
const (
	accessDenied      = 497
	readOnly          = 164
	settingConstraint = 452
	prohibited        = 392 // the setting allow_ddl
)

// otherwise is a statement that is not answered with a refusal's code, and why.
type otherwise struct {
	code int // 0: no code is in the answer
	why  string
}

// trap is a listener that counts who connects, and hangs up.
type trap struct {
	net.Listener
	connections atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	tr, done := &trap{Listener: listener}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			tr.connections.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-done
	})
	return tr
}

// lure is configuration, and then a schema, in which the statements of escapes would find what they
// are after.
func lure(t *testing.T, address string) *analytics {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	a := newAnalytics(t, map[string]string{
		"conf.d/lure.xml": fmt.Sprintf(`<clickhouse>
  <remote_servers><trap><shard><replica><host>%s</host><port>%s</port></replica></shard></trap></remote_servers>
  <query_log><database>system</database><table>query_log</table></query_log>
  <text_log><database>system</database><table>text_log</table></text_log>
  <session_log><database>system</database><table>session_log</table></session_log>
</clickhouse>`, host, port),
		"users.d/lure.xml": "<clickhouse><roles><everything><grants><query>GRANT ALL ON *.*</query></grants></everything></roles></clickhouse>",
	})
	for _, sql := range []string{
		"SYSTEM FLUSH LOGS", // makes their tables
		"CREATE TABLE lodestone.joined (k UInt8, v UInt8) ENGINE = Join(ANY, LEFT, k)",
		"CREATE DICTIONARY lodestone.d (k UInt64, v UInt64) PRIMARY KEY k SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)",
		"CREATE TABLE lodestone.series ENGINE = TimeSeries SETTINGS allow_experimental_time_series_table = 1",
		"CREATE TABLE lodestone.texts (a String, INDEX words a TYPE text(tokenizer = 'splitByNonAlpha')) ENGINE = MergeTree ORDER BY ()",
	} {
		a.must(a.own, sql)
	}
	return a
}

var exceptionCode = regexp.MustCompile(`^Code: (\d+)\.`)

// refused reports whether an answer is a refusal, or the failure that is expected instead.
func refused(status int, text string, instead *otherwise) bool {
	code := 0
	if found := exceptionCode.FindStringSubmatch(text); found != nil {
		code, _ = strconv.Atoi(found[1])
	}
	return status >= 400 && (slices.Contains([]int{accessDenied, readOnly, settingConstraint, prohibited}, code) ||
		instead != nil && code == instead.code)
}

// What a person with the analyst's password may try, on the schema as it is. The statements are
// well-formed, and what they name is there, so what stops them is the refusal.
func TestAnalystCannotGetOut(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	address := tr.Addr().String()
	a := lure(t, address)
	table := a.must(a.own, "SELECT uuid FROM system.tables WHERE database = 'lodestone' AND name = 'events'")
	for _, user := range []string{a.all, a.scoped} {
		for _, sql := range escapes(a.file, address, table) {
			if status, text := a.ask(user, sql); !refused(status, text, nil) {
				t.Errorf("%s: %d %s", sql, status, text)
			}
		}
		for sql, instead := range odd(a.file) {
			if status, text := a.ask(user, sql); !refused(status, text, &instead) || strings.Contains(text, "swordfish") {
				t.Errorf("%s (%s): %d %s", sql, instead.why, status, text)
			}
		}
		// These have answers, without anything in them.
		for _, sql := range []string{
			"SELECT name FROM system.databases",
			"SELECT name FROM system.tables WHERE database NOT IN ('analytics', 'system', 'INFORMATION_SCHEMA', 'information_schema')",
			"SELECT name FROM system.columns WHERE database = 'lodestone'",
			"SHOW TABLES FROM lodestone", "SHOW DATABASES",
		} {
			text := a.must(user, sql)
			require.NotContains(t, text+"\n", "lodestone\n", sql)
			require.NotContains(t, text, "kafka_offset", sql)
		}
	}
	require.Zero(t, tr.connections.Load())
	for _, sql := range []string{"SELECT * FROM url('http://" + address +
		"/x', 'LineAsString') SETTINGS http_max_tries = 1", "SELECT * FROM cluster('trap', 'lodestone.events')"} {
		before := tr.connections.Load()
		_, text := a.ask(a.own, sql)
		require.Eventually(t, func() bool { return tr.connections.Load() > before }, testTimeout, time.Millisecond,
			"the trap would have noticed: %s", text)
	}
	require.Equal(t, "2", a.must(a.all, "SELECT count() FROM merge(REGEXP('.*'), 'events')"),
		"the view's rows, and not the table's")
	require.Equal(t, "2", a.must(a.own, "SELECT count() FROM lodestone.events"))
	require.NoFileExists(t, a.file+".copy")
	// With settings in the address, as HTTP clients send them.
	for _, setting := range []string{"readonly=0", "max_memory_usage=0", "max_rows_to_read=0", "max_execution_time=0",
		"allow_ddl=1", "max_concurrent_queries_for_user=100", "os_thread_priority=-20", "log_comment=x&max_threads=100"} {
		status, text := a.ask(a.all+"&"+setting, "SELECT 1")
		require.True(t, refused(status, text, nil), "%s: %s", setting, text)
	}
	status, text := a.ask(a.all+"&role=everything", "SELECT 1")
	require.True(t, refused(status, text, &roleNotGranted), text)
}

// A table function that a later release of the server brings is tried, too, or known to reach
// nothing.
func TestEveryTableFunctionIsTried(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	harmless := strings.Fields(
		"SQLStandardValues values fuzzJSON fuzzQuery generateRandom generateSeries generate_series null numbers numbers_mt primes zeros zeros_mt")
	statements := slices.AppendSeq(escapes("/x", "127.0.0.1:1", uuid.Nil.String()), maps.Keys(odd("/x")))
	tried := strings.Join(statements, "\n")
	for name := range strings.Lines(a.must(a.own, "SELECT name FROM system.table_functions")) {
		name = strings.TrimSpace(name)
		if !slices.Contains(harmless, name) && !strings.Contains(tried, " "+name+"(") {
			t.Errorf("the table function %s is not among the escapes", name)
		}
	}
}

var roleNotGranted = otherwise{512, "SET_NON_GRANTED_ROLE: there is such a role, for others"}

// odd are statements that fail otherwise.
func odd(file string) map[string]otherwise {
	switchedOff := otherwise{395,
		"FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: a function of the name is put before the server's own"}
	absent := func(code int) otherwise {
		return otherwise{code, "what runs here has no such thing; where there is, it needs a right"}
	}
	return map[string]otherwise{
		"SELECT 1 INTO OUTFILE '" + file + ".copy'": {358, "INTO_OUTFILE_NOT_ALLOWED"},
		"SET ROLE everything":                       roleNotGranted,
		"SELECT * FROM merge('lodestone', '.*')":    {636, "CANNOT_EXTRACT_TABLE_STRUCTURE: it sees no table there"},

		"SELECT file('" + file + "')":                       switchedOff,
		"SELECT arrayMap(file, ['" + file + "'])":           switchedOff,
		"SELECT arrayMap(x -> `file`(x), ['" + file + "'])": switchedOff,
		"SELECT file('" + file + "', 'else')": {36,
			"BAD_ARGUMENTS: the function that is put before has one argument"},
		"SELECT `FILE`('" + file + "')": {46,
			"UNKNOWN_FUNCTION: no other spelling finds the server's own"},
		"SELECT catboostEvaluate('" + file + "', 1)": {0,
			"no library for models is configured, so nothing is loaded"},
		"SYSTEM RELOAD CONFIG": {1,
			"UNSUPPORTED_METHOD: the embedded server reads its configuration at the start only"},
		"EXECUTE AS lodestone SELECT 1": {344,
			"SUPPORT_IS_DISABLED: for everybody, as long as the server's configuration does not allow it"},
		"SELECT * FROM system.zookeeper WHERE path = '/'":                          absent(60),
		"SELECT * FROM system.asynchronous_metrics":                                absent(60),
		"SELECT * FROM python('x')":                                                absent(46),
		"SELECT * FROM arrowFlight('127.0.0.1:1', 'x')":                            absent(46),
		"SELECT * FROM timeSeriesSelector('lodestone', 'series', 'up', 0, 1)":      absent(344),
		"SELECT * FROM prometheusQuery('lodestone', 'series', 'up', 0)":            absent(344),
		"SELECT * FROM prometheusQueryRange('lodestone', 'series', 'up', 0, 1, 1)": absent(344),
		"SELECT * FROM eval('SELECT * FROM lodestone.events')": {344,
			"SUPPORT_IS_DISABLED: its setting is not for the user, see below"},
	}
}

// escapes are statements that read files, networks, other databases or the server's own tables, or
// change something. address is that of a listener, table the id of lodestone.events: what they
// reach is there.
func escapes(file, address, table string) []string {
	bucket := "'http://" + address + "/bucket/x.csv'"
	list := []string{
		"INSERT INTO FUNCTION null('a Int8') SELECT * FROM input('a Int8') FORMAT CSV 1",
		"SELECT dictGet('lodestone.d', 'v', 1)", "SELECT joinGet('lodestone.joined', 'v', 1::UInt8)",
		"SELECT 1 IN lodestone.joined",
		"SELECT * FROM lodestone.events", "SELECT * FROM lodestone.access_links FINAL",
		"SELECT count() FROM lodestone.goose_db_version",
		"EXPLAIN SELECT * FROM lodestone.events", "DESCRIBE TABLE lodestone.events", "SHOW CREATE TABLE lodestone.events",
		"USE lodestone", "EXISTS lodestone.events",
		"SELECT * FROM view(SELECT * FROM lodestone.events)",
		"SELECT * FROM viewExplain('EXPLAIN', '', (SELECT * FROM lodestone.events))",
		"SELECT * FROM viewIfPermitted(SELECT * FROM lodestone.events ELSE url('http://" + address + "/', 'CSV', 'a Int8'))",
		"SELECT * FROM mergeTreeIndex('lodestone', 'events')",
		"SELECT * FROM mergeTreeProjection('lodestone', 'events', 'by_offset')",
		"SELECT * FROM mergeTreeTextIndex('lodestone', 'texts', 'words')",
		"SELECT * FROM mergeTreeAnalyzeIndexes('lodestone', 'events')",
		"SELECT * FROM mergeTreeAnalyzeIndexesUUID('" + table + "')",
		"CREATE TABLE analytics.t (a Int8) ENGINE = Memory", "CREATE TEMPORARY TABLE t (a Int8)", "CREATE DATABASE d",
		"CREATE VIEW analytics.v AS SELECT 1",
		"CREATE FUNCTION f AS x -> x",
		"CREATE DICTIONARY analytics.d (a UInt64) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)",
		"CREATE USER u", "CREATE ROW POLICY p ON analytics.events USING 1 TO ALL", "ALTER USER analyst IDENTIFIED BY 'x'",
		"CREATE NAMED COLLECTION c AS a = 1",
		"INSERT INTO lodestone.events (page) VALUES (1)", "INSERT INTO analytics.events (page) VALUES (1)",
		"INSERT INTO FUNCTION null('a Int8') VALUES (1)",
		"INSERT INTO FUNCTION url('http://" + address + "/', 'CSV', 'a Int8') VALUES (1)",
		"ALTER TABLE lodestone.events DELETE WHERE 1", "DELETE FROM lodestone.events WHERE 1",
		"UPDATE lodestone.events SET page = 1 WHERE 1",
		"TRUNCATE TABLE lodestone.events", "DROP VIEW analytics.events", "RENAME TABLE analytics.events TO analytics.e",
		"OPTIMIZE TABLE lodestone.events",
		"ATTACH TABLE lodestone.x", "DETACH VIEW analytics.events", "BACKUP DATABASE analytics TO Disk('default', 'x')",
		"CHECK TABLE lodestone.events",
		"KILL QUERY WHERE 1 SYNC", "KILL MUTATION WHERE 1", "SYSTEM SHUTDOWN", "SYSTEM STOP MERGES lodestone.events",
		"SYSTEM RELOAD USERS", "SYSTEM DROP MARK CACHE", "SYSTEM FLUSH LOGS",
		"CREATE WORKLOAD w IN all", "CREATE OR REPLACE WORKLOAD analyst IN all", "DROP WORKLOAD analyst",
		"CREATE RESOURCE r (QUERY)", "DROP RESOURCE query",
		"GRANT SELECT ON *.* TO analyst", "SET readonly = 0", "SET max_memory_usage = 0",
		"SELECT 1 SETTINGS readonly = 2", "SELECT 1 SETTINGS max_memory_usage = 0",
		"SELECT 1 SETTINGS max_memory_usage_for_user = 0", "SELECT 1 SETTINGS max_rows_to_read = 0",
		"SELECT 1 SETTINGS max_threads = 2", "SELECT 1 SETTINGS max_bytes_to_read = 0",
		"SELECT 1 SETTINGS max_execution_time = 121", "SELECT 1 SETTINGS max_result_bytes = 0",
		"SELECT 1 SETTINGS os_thread_priority = 0", "SELECT 1 SETTINGS workload = 'default'",
		"SELECT 1 SETTINGS use_concurrency_control = 0", "SELECT 1 SETTINGS cancel_http_readonly_queries_on_client_close = 0",
		"SELECT 1 SETTINGS timeout_overflow_mode = 'break'", "SELECT 1 SETTINGS format_schema = 'x'",
		"SELECT 1 SETTINGS allow_introspection_functions = 1",
		"SELECT * FROM eval('SELECT 1') SETTINGS allow_experimental_eval_table_function = 1",
		"SELECT addressToLine(1)", "SELECT getServerSetting('max_server_memory_usage'), * FROM system.server_settings",
	}
	for _, table := range []string{
		"users", "roles", "grants", "quotas", "settings_profiles", "row_policies", "processes", "query_log", "parts",
		"parts_columns", "server_settings",
		"merges", "disks", "storage_policies", "clusters", "macros", "metrics", "events", "errors",
		"text_log", "session_log", "replicas",
		"stack_trace", "named_collections", "query_cache", "user_processes", "detached_parts", "remote_data_paths",
		"data_skipping_indices", "projections", "dictionaries", "mutations",
		"workloads", "resources", "scheduler",
	} {
		list = append(list, "SELECT * FROM system."+table+" LIMIT 1 FORMAT JSON SETTINGS max_threads = 1")
	}
	for _, call := range []string{
		"file('" + file + "', 'LineAsString')", "fileCluster('trap', '" + file + "', 'LineAsString')", "filesystem('/')",
		"sqlite('" + file + "', 't')",
		"url('http://" + address + "/', 'LineAsString')", "urlCluster('trap', 'http://" + address + "/', 'LineAsString')",
		"hdfs('hdfs://" + address + "/x', 'CSV')", "hdfsCluster('trap', 'hdfs://" + address + "/x', 'CSV')",
		"deltaLakeLocal('" + file + "')", "icebergLocal('" + file + "')", "icebergLocalCluster('trap', '" + file + "')",
		"paimonLocal('" + file + "')", "icebergHDFS('hdfs://" + address + "/x')",
		"icebergHDFSCluster('trap', 'hdfs://" + address + "/x')",
		"paimonHDFS('hdfs://" + address + "/x')", "paimonHDFSCluster('trap', 'hdfs://" + address + "/x')",
		"remote('" + address + "', 'lodestone.events', 'lodestone', 'x')",
		"remoteSecure('" + address + "', 'lodestone.events')", "cluster('trap', 'lodestone.events')",
		"clusterAllReplicas('trap', 'lodestone.events')",
		"postgresql('" + address + "', 'a', 'b', 'c', 'd')", "mysql('" + address + "', 'a', 'b', 'c', 'd')",
		"mongodb('" + address + "', 'a', 'b', 'c', 'd', 'x Int8')", "redis('" + address + "', 'k', 'k String')",
		"jdbc('x', 'y')", "odbc('DSN=x', 'y', 'z')", "ytsaurus('http://" + address + "', '//x', 'y', 'a Int8')",
		"executable('x', 'TSV', 'a Int8')", "dictionary('lodestone.d')", "loop(lodestone.events)",
		"format('LineAsString', 'x')",
		"timeSeriesData('lodestone', 'series')", "timeSeriesSamples('lodestone', 'series')",
		"timeSeriesTags('lodestone', 'series')", "timeSeriesMetrics('lodestone', 'series')",
	} {
		list = append(list, "SELECT * FROM "+call)
	}
	for function := range strings.FieldsSeq(
		"s3 gcs oss cosn deltaLake deltaLakeS3 iceberg icebergS3 hudi paimon paimonS3") {
		list = append(list, "SELECT * FROM "+function+"("+bucket+", 'key', 'secret')")
	}
	for function := range strings.FieldsSeq(
		"s3Cluster deltaLakeCluster deltaLakeS3Cluster icebergCluster icebergS3Cluster hudiCluster paimonCluster paimonS3Cluster") {
		list = append(list, "SELECT * FROM "+function+"('trap', "+bucket+", 'key', 'secret')")
	}
	azure := "'http://" + address + "/account', 'container', 'path', 'account', 'a2V5'"
	for function := range strings.FieldsSeq("azureBlobStorage deltaLakeAzure icebergAzure paimonAzure") {
		list = append(list, "SELECT * FROM "+function+"("+azure+")")
	}
	for function := range strings.FieldsSeq(
		"azureBlobStorageCluster deltaLakeAzureCluster icebergAzureCluster paimonAzureCluster") {
		list = append(list, "SELECT * FROM "+function+"('trap', "+azure+")")
	}
	return list
}

// Statements that PARALLEL WITH joins are executed without rights by ClickHouse before the versions
// that Confines knows. The library does not know them.
func TestAnalystJoinsNoStatements(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	a := shareAnalytics(t)
	before := a.must(a.own, "SELECT name FROM system.databases ORDER BY name") + a.must(a.own,
		"SELECT name FROM system.tables WHERE database IN ('analytics', 'lodestone') ORDER BY name")
	for _, user := range []string{a.all, a.scoped} {
		for _, sql := range []string{
			"CREATE DATABASE d", "CREATE VIEW analytics.v AS SELECT 1", "CREATE OR REPLACE VIEW analytics.events AS SELECT 1",
			"CREATE DICTIONARY analytics.d (a UInt64) PRIMARY KEY a SOURCE(HTTP(url 'http://" + tr.Addr().String() +
				"/' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
			"CREATE TABLE analytics.t (a Int8) ENGINE = Memory", "DROP VIEW analytics.events", "SELECT 1",
			"GRANT SELECT ON *.* TO analyst",
		} {
			status, text := a.ask(user, sql+" PARALLEL WITH "+strings.ReplaceAll(sql, " d", " d2"))
			require.GreaterOrEqual(t, status, 400, "%s: %s", sql, text)
			require.Regexp(t, `^Code: (62|497)\.`, text, sql)
		}
	}
	require.Equal(t, before, a.must(a.own, "SELECT name FROM system.databases ORDER BY name")+a.must(a.own,
		"SELECT name FROM system.tables WHERE database IN ('analytics', 'lodestone') ORDER BY name"))
	require.Zero(t, tr.connections.Load())
}

// docs/sql.md says what an SQL user sees of the server, since ClickHouse has no right for it. It is
// no more than that.
func TestWhatAnalystsSeeOfTheServer(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for _, user := range []string{a.all, a.scoped} {
		for _, open := range []string{"hostName()", "getOSKernelVersion()", "getServerPort('tcp_port')",
			"filesystemAvailable()", "getServerSetting('max_server_memory_usage')"} {
			require.NotEmpty(t, a.must(user, "SELECT "+open), "closed now: say so in docs/sql.md")
		}
		require.Equal(t, "analytics", a.must(user, "SELECT name FROM system.databases"), "and so no path of another one")
		require.Equal(t, "0",
			a.must(user, "SELECT count() FROM system.tables WHERE database != 'analytics' OR notEmpty(data_paths)"))
		for sql, says := range map[string]string{
			"SELECT * FROM mergeTreeProjection('lodestone', 'events', 'by_offset')": "ACCESS_DENIED",
			"SELECT * FROM mergeTreeProjection('lodestone', 'events', 'none')":      "NO_SUCH_PROJECTION_IN_TABLE",
			"SELECT demangle('x')":       "ACCESS_DENIED",
			"SELECT getMacro('shard')":   "NO_ELEMENTS_IN_CONFIG",
			"SELECT * FROM system.disks": "ACCESS_DENIED",
		} {
			status, text := a.ask(user, sql)
			require.GreaterOrEqual(t, status, 400, text)
			require.Contains(t, text, says, sql)
		}
	}
}
