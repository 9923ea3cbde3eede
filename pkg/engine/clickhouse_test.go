package engine_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/child"
	"lodestone/pkg/test/enginetest"
)

// observedClickHouse starts a server, and returns what is observed of it from then on.
func observedClickHouse(t *testing.T, change ...func(*engine.ClickHouse)) (*engine.ClickHouse, <-chan engine.Event) {
	t.Helper()
	events := make(chan engine.Event, 100)
	runtime := enginetest.Runtime()
	runtime.Observe = func(e engine.Event) { events <- e }
	server := engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: runtime, Dir: t.TempDir(), TCPPort: enginetest.FreePort(t), HTTPPort: enginetest.FreePort(t),
		MemoryBytes: enginetest.ClickHouseMemory, Launcher: enginetest.Launcher(t), Installer: enginetest.Installer(t),
	})
	for _, c := range change {
		c(server)
	}
	startFor(t, server)
	require.Equal(t, child.Started, (<-events).Kind)
	return server, events
}

// nextChange returns the next start or end of an engine. In between it may be unwell for a while:
// it does not answer in time on a busy machine, or ends while it is asked.
func nextChange(events <-chan engine.Event) engine.Event {
	e := <-events
	for e.Kind == child.Unwell || e.Kind == child.Well {
		e = <-events
	}
	return e
}

func TestKilledClickHouseComesBackWithItsData(t *testing.T) {
	t.Parallel()
	server, events := observedClickHouse(t)
	must(t, server.HTTPURL(), "CREATE TABLE default.t (x UInt64) ENGINE = MergeTree ORDER BY x")
	must(t, server.HTTPURL(), "INSERT INTO default.t SELECT number FROM numbers(1000)")
	before := server.URL()

	killPID(t, server.PID())
	for e := range events { // on a busy machine it may die or be unwell more than once
		if e.Kind == child.Restarted {
			break
		}
	}
	require.Equal(t, before, server.URL())
	require.Equal(t, "1000", must(t, server.HTTPURL(), "SELECT count() FROM default.t"))
	require.Equal(t, "1", must(t, server.HTTPURL(), "SELECT count() FROM system.workloads WHERE name = 'analyst'"),
		"SQL users' queries are in line again")
}

func TestClickHouseSurvivesFailedLogins(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir())
	startFor(t, server)
	pid := server.PID()
	u, err := url.Parse(server.URL())
	require.NoError(t, err)
	u.User, u.Path = url.UserPassword("lodestone", "a wrong one"), "/default"
	for range 5 {
		options, err := clickhouse.ParseDSN(u.String())
		require.NoError(t, err)
		conn, err := clickhouse.Open(options)
		require.NoError(t, err)
		require.ErrorContains(t, conn.Ping(context.Background()), "Authentication failed")
		require.NoError(t, conn.Close())
	}
	require.Equal(t, pid, server.PID())
	require.Equal(t, "1", must(t, server.HTTPURL(), "SELECT 1"))
}

func TestOwnUserCanDoWhatLodestoneNeeds(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir())
	startFor(t, server)
	for _, sql := range []string{
		"CREATE DATABASE lodestone",
		"CREATE DATABASE analytics",
		"CREATE TABLE lodestone.t (x UInt64, y String) ENGINE = MergeTree ORDER BY x SETTINGS non_replicated_deduplication_window = 100, fsync_after_insert = 1, fsync_part_directory = 1",
		"CREATE TABLE lodestone.sum (n UInt64) ENGINE = SummingMergeTree ORDER BY ()",
		"CREATE MATERIALIZED VIEW lodestone.mv TO lodestone.sum AS SELECT count() AS n FROM lodestone.t",
		"CREATE VIEW analytics.events DEFINER = lodestone SQL SECURITY DEFINER AS SELECT * FROM lodestone.t",
		"INSERT INTO lodestone.t SELECT number, 'y' FROM numbers(5)",
		"ALTER TABLE lodestone.t ADD PROJECTION p (SELECT x ORDER BY y)",
		"KILL QUERY WHERE query_id = 'nothing'",
		"SYSTEM STOP MERGES lodestone.t",
		"SELECT count() FROM system.parts",
		"SELECT count() FROM system.processes",
	} {
		must(t, server.HTTPURL(), sql)
	}
	require.Equal(t, "5", must(t, server.SQLURL(), "SELECT count() FROM events"))
	require.Equal(t, "false", must(t, server.HTTPURL(), "SELECT getSetting('async_insert')"))
	require.Equal(t, "1073741824",
		must(t, server.HTTPURL(), "SELECT keep_free_space FROM system.disks WHERE name = 'default'"),
		"it stops before its disk is full, which it would not survive undamaged")
}

func TestAnalystReadsAnalyticsAndNothingElse(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir())
	startFor(t, server)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	for _, sql := range []string{
		"CREATE DATABASE lodestone", "CREATE DATABASE analytics",
		"CREATE TABLE lodestone.t (x UInt64) ENGINE = MergeTree ORDER BY x",
		"INSERT INTO lodestone.t SELECT number FROM numbers(10)",
		"CREATE VIEW analytics.events DEFINER = lodestone SQL SECURITY DEFINER AS SELECT * FROM lodestone.t",
		"CREATE DICTIONARY lodestone.d (x UInt64, y String) PRIMARY KEY x SOURCE(CLICKHOUSE(QUERY 'SELECT 1 AS x, toString(2) AS y')) LAYOUT(FLAT()) LIFETIME(60)",
	} {
		must(t, server.HTTPURL(), sql)
	}
	for _, sql := range []string{
		"SELECT count() FROM events", "SELECT 1", "SHOW TABLES",
		"SELECT count() FROM analytics.events SETTINGS max_threads = 1",
		"SELECT toString(x) FROM events LIMIT 3 SETTINGS session_timezone = 'Europe/Berlin' FORMAT JSON",
	} {
		must(t, server.SQLURL(), sql)
	}
	native, err := url.Parse(server.URL())
	require.NoError(t, err)
	for _, sql := range []string{
		"SELECT * FROM lodestone.t",
		"SELECT dictGet('lodestone.d', 'y', 1)",
		"SELECT * FROM merge('lodestone', '.*')",
		"SELECT * FROM mergeTreeIndex('lodestone', 't')",
		"SELECT * FROM system.users", "SELECT * FROM system.processes", "SELECT * FROM system.parts",
		"SELECT * FROM system.query_log", "SELECT * FROM system.server_settings", "SELECT * FROM system.grants",
		"SELECT * FROM file('" + secret + "', 'LineAsString')",
		"SELECT file('" + secret + "')", "SELECT file('" + secret + "', 'else')",
		"SELECT arrayMap(file, ['" + secret + "'])", "SELECT arrayMap(x -> `file`(x), ['" + secret + "'])",
		"SELECT * APPLY file FROM (SELECT '" + secret + "' AS a)", "WITH (x -> file(x)) AS g SELECT g('" + secret + "')",
		"SELECT file('" + secret + "') SETTINGS enable_analyzer = 0", "DROP FUNCTION file",
		"SELECT * FROM sqlite('" + secret + "', 't')", "SELECT * FROM dictionary('lodestone.d')",
		"SELECT * FROM python('x')", "SELECT * FROM fileCluster('default', '" + secret + "', 'LineAsString')",
		"SELECT * FROM url('http://" + native.Host + "/', 'LineAsString')",
		"SELECT * FROM remote('" + native.Host + "', 'lodestone.t', 'lodestone', 'x')",
		"SELECT * FROM clickhouse('" + native.Host + "', 'lodestone.t')",
		"SELECT * FROM cluster('default', 'lodestone.t')",
		"SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
		"SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
		"SELECT * FROM s3('http://127.0.0.1:1/x', 'CSV')",
		"SELECT * FROM executable('x', 'TSV', 'a Int8')",
		"INSERT INTO analytics.events VALUES (1)", "INSERT INTO lodestone.t VALUES (1)",
		"INSERT INTO FUNCTION file('x.csv', 'CSV', 'a Int8') VALUES (1)",
		"SELECT 1 INTO OUTFILE '" + secret + ".copy'",
		"CREATE TABLE analytics.x (a Int8) ENGINE = Memory", "CREATE TEMPORARY TABLE x (a Int8)",
		"CREATE VIEW analytics.y AS SELECT 1", "CREATE FUNCTION f AS (x) -> x", "CREATE DATABASE z",
		"ALTER TABLE lodestone.t DELETE WHERE 1", "DROP VIEW analytics.events", "TRUNCATE TABLE lodestone.t",
		"SYSTEM SHUTDOWN", "SYSTEM RELOAD CONFIG", "SYSTEM FLUSH LOGS", "KILL QUERY WHERE 1",
		"GRANT SELECT ON *.* TO analyst",
		"SET readonly = 0", "SELECT 1 SETTINGS readonly = 0", "SELECT 1 SETTINGS max_memory_usage = 0",
		"SELECT 1 SETTINGS max_execution_time = 0", "SELECT 1 SETTINGS max_execution_time = 100000",
		"SELECT 1 SETTINGS max_result_rows = 0", "SELECT 1 SETTINGS max_threads = 64",
		"SELECT sleep(3) FROM numbers(100) SETTINGS function_sleep_max_microseconds_per_block = 0",
	} {
		status, answer := query(t, server.SQLURL(), sql)
		require.GreaterOrEqual(t, status, http.StatusBadRequest, "%s: %s", sql, answer)
		require.NotContains(t, answer, "secret\n", sql)
	}
	require.NoFileExists(t, secret+".copy")
	require.Equal(t, "10", must(t, server.HTTPURL(), "SELECT count() FROM lodestone.t"))
	// The view's text names our user, and the list of users is not there to be read.
	require.NotContains(t, must(t, server.SQLURL(), "SELECT name FROM system.databases"), "lodestone")
}

// Only the library's console needs a user without a password, which could close the ports of
// another server.
func TestAServerOfTheSystemHasNoUserWithoutAPassword(t *testing.T) {
	t.Parallel()
	for library, want := range map[bool][]string{true: {"default"}, false: nil} {
		text, err := engine.Users(t.TempDir(), library)
		require.NoError(t, err)
		var file struct {
			Users struct {
				List []struct {
					XMLName xml.Name
					SHA256  string `xml:"password_sha256_hex"`
				} `xml:",any"`
			} `xml:"users"`
		}
		require.NoError(t, xml.Unmarshal(text, &file))
		var open []string
		for _, user := range file.Users.List {
			if user.SHA256 == "" {
				open = append(open, user.XMLName.Local)
			}
		}
		require.Equal(t, want, open)
		require.NotEmpty(t, file.Users.List)
	}
}

func TestNoOneLogsInWithoutAPassword(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir())
	startFor(t, server)
	must(t, server.HTTPURL(), "CREATE TABLE default.t (x UInt64) ENGINE = MergeTree ORDER BY x")
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("swordfish"), 0o600))
	statements := []string{
		"SELECT 1", "SELECT hostName()", "SELECT 1 SETTINGS max_memory_usage = 0", "SELECT sleep(1)", "EXPLAIN SELECT 1",
		"SET max_threads = 1", "USE system", "",
		"SELECT 1 FORMAT Template SETTINGS format_template_resultset = '" + secret + "'",
		"SELECT 1 AS a, 2 AS b FORMAT Protobuf SETTINGS format_protobuf_use_autogenerated_schema = 1, output_format_schema = '" + secret + "'",
		"SELECT * FROM default.t", "SELECT * FROM system.processes", "SYSTEM SHUTDOWN",
		"SYSTEM STOP LISTEN TCP", "SYSTEM START LISTEN TCP",
		"SELECT count() FROM numbers(10)", "SYSTEM STOP MERGES default.t", "SELECT file('/etc/passwd')", "CREATE DATABASE x",
		"SELECT * FROM file('/etc/passwd', 'LineAsString')",
	}
	u, err := url.Parse(server.HTTPURL())
	require.NoError(t, err)
	for _, user := range []*url.Userinfo{nil, url.User("default"), url.User("lodestone"), url.User("analyst"),
		url.User(""), url.UserPassword("lodestone", "x"), url.UserPassword("default", "x")} {
		u.User = user
		for _, parameters := range []string{"", "max_sessions_for_user=0&session_id="} {
			for i, sql := range statements {
				u.RawQuery = parameters
				if parameters != "" {
					u.RawQuery += strconv.Itoa(i) // a session that just ended may still be locked
				}
				status, answer := query(t, u.String(), sql)
				require.GreaterOrEqual(t, status, http.StatusBadRequest, "%v: %s: %s", user, sql, answer)
				require.NotContains(t, answer, "swordfish", sql)
				require.Regexp(t, `^Code: (194|516|700)\.`, answer, "the login fails, and not the statement %s", sql)
			}
		}
	}
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "swordfish", string(text))
	native, err := url.Parse(server.URL())
	require.NoError(t, err)
	for _, user := range []string{"default", "lodestone", "analyst"} {
		for _, settings := range []clickhouse.Settings{nil, {"max_sessions_for_user": 0}} {
			conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{native.Host}, Auth: clickhouse.Auth{Username: user,
				Database: "default"}, Settings: settings})
			require.NoError(t, err)
			for _, sql := range []string{"SELECT 1", "SYSTEM STOP LISTEN HTTP"} {
				require.Error(t, conn.Exec(t.Context(), sql), user)
			}
			require.NoError(t, conn.Close())
		}
	}
	must(t, server.HTTPURL(), "SELECT 1")
}

// What fails is the business of who asked: a statement and its error can hold addresses and rows.
func TestFailedStatementsAreNotLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewClickHouse(t, dir)
	startFor(t, server)
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	password, _ := address.User.Password()
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{address.Host},
		Auth: clickhouse.Auth{Username: "lodestone", Password: password, Database: "default"}})
	require.NoError(t, err)
	for _, sql := range []string{"SELECT 'ada@secret.example' FROM nowhere", "SELECT toInt8('ada@secret.example')",
		"SELECT throwIf(1, 'ada@secret.example')", "ada@secret.example",
		"INSERT INTO FUNCTION null('x Int8') FORMAT CSV ada@secret.example"} {
		for _, user := range []string{server.HTTPURL(), server.SQLURL()} {
			status, _ := query(t, user, sql)
			require.GreaterOrEqual(t, status, http.StatusBadRequest, sql)
		}
		require.Error(t, conn.Exec(t.Context(), sql), sql)
	}
	require.NoError(t, conn.Close())
	text, err := os.ReadFile(filepath.Join(dir, "clickhouse.log"))
	require.True(t, err == nil || os.IsNotExist(err), err)
	require.NotContains(t, string(text), "ada@secret.example")
}

func TestClickHouseServesQueriesAndHealthChecksOnly(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, t.TempDir())
	startFor(t, server)
	enginetest.CheckClickHouseHTTP(t, server.SQLURL())
	enginetest.CheckClickHouseHTTP(t, server.HTTPURL())
}

func TestSecretsAreClosedToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewClickHouse(t, dir)
	startFor(t, server)
	for _, name := range []string{"passwords.json", "config.xml", "users.xml", "clickhouse.log"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if name == "clickhouse.log" && os.IsNotExist(err) {
			continue // it has no message
		}
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm(), name)
	}
	text, err := os.ReadFile(filepath.Join(dir, "users.xml"))
	require.NoError(t, err)
	u, err := url.Parse(server.URL())
	require.NoError(t, err)
	password, _ := u.User.Password()
	require.NotContains(t, string(text), password)
}

func TestPathWithOddLetters(t *testing.T) {
	t.Parallel()
	server := enginetest.NewClickHouse(t, filepath.Join(t.TempDir(), `a & <b> "c" 'd' ü`))
	startFor(t, server)
	must(t, server.HTTPURL(), "CREATE TABLE default.t (x UInt64) ENGINE = MergeTree ORDER BY x")
}

func TestRestartedClickHouseKeepsPortsAndPasswords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := enginetest.NewClickHouse(t, dir)
	require.NoError(t, first.Start(context.Background()))
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")
	must(t, first.HTTPURL(), "CREATE TABLE default."+name+" (x UInt64) ENGINE = MergeTree ORDER BY x")
	require.NoError(t, first.Stop(context.Background()))
	second := enginetest.NewClickHouse(t, dir)
	startFor(t, second)
	require.Equal(t, first.URL(), second.URL())
	require.Equal(t, first.SQLURL(), second.SQLURL())
	must(t, second.HTTPURL(), "SELECT * FROM default."+name)
}

func TestPortTakenDuringARestartIsExplainedAndAwaited(t *testing.T) {
	t.Parallel()
	server, events := observedClickHouse(t)
	u, err := url.Parse(server.HTTPURL())
	require.NoError(t, err)

	steal := func() net.Listener {
		for {
			if l, err := net.Listen("tcp", u.Host); err == nil {
				return l
			}
			select {
			case e := <-events:
				if e.Kind == child.Restarted {
					return nil // it was quicker
				}
			default:
			}
		}
	}
	var thief net.Listener
	for thief == nil {
		killPID(t, server.PID())
		thief = steal()
	}
	died := nextChange(events)
	for strings.Contains(fmt.Sprint(died.Err), "signal: killed") {
		died = nextChange(events)
	}
	require.Equal(t, child.Died, died.Kind)
	require.ErrorContains(t, died.Err, "its port is taken by another program")
	require.NoError(t, thief.Close())
	for e := range events {
		if e.Kind == child.Restarted {
			break
		}
	}
	must(t, server.HTTPURL(), "SELECT 1")
}

func TestLauncherEndsWithItsInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewClickHouse(t, dir)
	require.NoError(t, server.Start(context.Background()))
	require.NoError(t, server.Stop(context.Background()))
	binary, err := enginetest.Installer(t).ClickHouse(context.Background())
	require.NoError(t, err)
	require.NotEmpty(t, binary.Library)

	// Also before it serves, when there is nothing yet that it could tell the end to.
	u, err := url.Parse(server.HTTPURL())
	require.NoError(t, err)
	for when, reached := range map[string]func() bool{
		"at once": func() bool { return true },
		"listening": func() bool {
			conn, err := net.Dial("tcp", u.Host)
			return err == nil && conn.Close() == nil
		},
		"serving": func() bool {
			response, err := client.Get(server.HTTPURL() + "/ping")
			return err == nil && response.Body.Close() == nil
		},
	} {
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // then it is killed, which Wait tells
			cmd := exec.CommandContext(ctx, enginetest.Launcher(t), "--config-file="+filepath.Join(dir, "config.xml"))
			cmd.Env = append(os.Environ(), "HOME="+dir, engine.LauncherLibrary+"="+binary.Library)
			input, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			for !reached() {
				require.NoError(t, ctx.Err(), when)
			}
			require.NoError(t, input.Close())
			require.NoError(t, cmd.Wait(), when)
			cancel()
		}
	}
}
