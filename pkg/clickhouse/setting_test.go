package clickhouse_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/stretchr/testify/require"
)

// changeable are the settings that SQL users may change, with values beyond their bounds: each
// shapes an answer, or lowers a limit.
var changeable = map[string][]string{
	"max_execution_time":                           {"0", "121", "-1"},
	"max_rows_to_read":                             {"0", "1000000001"},
	"max_result_rows":                              {"0", "1000001"},
	"max_threads":                                  {"0", "2", "auto"},
	"max_block_size":                               {"1048577"},
	"http_zlib_compression_level":                  {"0", "10"},
	"http_headers_progress_interval_ms":            {"0", "99", "3600001"},
	"cancel_http_readonly_queries_on_client_close": {"0"},

	"result_overflow_mode": nil, "session_timezone": nil, "join_use_nulls": nil, "extremes": nil,
	"date_time_output_format": nil, "date_time_input_format": nil,
	"output_format_json_quote_64bit_integers": nil, "output_format_json_quote_denormals": nil,
	"output_format_json_named_tuples_as_objects": nil, "output_format_native_write_json_as_string": nil,
	"enable_http_compression": nil, "send_progress_in_http_headers": nil,
}

// setting is one of the server's.
type setting struct {
	Name, Type, Value string
	Readonly          int
	Obsolete          int `json:"is_obsolete"`
}

// another stands for a value that a setting does not have.
const another = "another value"

// limit is in the names of settings that are a limit, or lift one.
var limit = regexp.MustCompile(
	`max_|_max$|limit|thread|memory|timeout|overflow|priority|nice|speed|bandwidth|concurren|workload`)

// boundedForWriter reports whether a setting is one that the user dbt must not change. dbt writes,
// so its settings are not bounded all at once.
func (s setting) boundedForWriter() bool {
	switch s.Type {
	case "String", "URI", "Map", "Char":
		return true
	case "Bool":
		return s.Name == "use_concurrency_control" || s.Name == "log_queries" ||
			strings.HasPrefix(s.Name, "dynamic_disk_allow_")
	}
	return s.Name == "readonly" || limit.MatchString(s.Name)
}

var (
	allowedValues  = regexp.MustCompile(`Must be one of \['([^']+)'(?:, '([^']+)')?`)
	refusedSetting = regexp.MustCompile(`Code: (164|392|452)\b`)
	// In a subquery, the analyzer cannot be another, and limit and offset are those of its rows.
	refusedInSubquery = regexp.MustCompile(`Code: (80|164|170|392|452)\b`)
)

// other is a value that the setting does not have. For a text it is the name of a file.
func (s setting) other(a *analytics, c *http.Client) string {
	switch {
	case s.Type == "Bool":
		return map[string]string{"0": "1", "1": "0"}[s.Value]
	case s.Type == "String", s.Type == "URI":
		return a.file
	case s.Type == "Char":
		return "~"
	case s.Type == "Map":
		return "{'analytics.events': '1'}"
	case s.Value != "1" && (strings.HasSuffix(s.Type, "Auto") || s.Type == "MaxThreads"):
		return "1"
	}
	if n, err := strconv.ParseFloat(s.Value, 64); err == nil {
		return strconv.FormatFloat(n+1, 'f', -1, 64)
	}
	says := post(a.t, c, a.own, "SELECT 1 SETTINGS "+s.Name+" = '?'")
	found := allowedValues.FindStringSubmatch(says)
	require.NotNil(a.t, found, "%v: the server names no value: %s", s, says)
	if found[1] == s.Value {
		return found[2]
	}
	return found[1]
}

// walk tries to give settings of a user other values, each by so many of the ways by which users
// come in, in turn. It returns the settings that the user may change.
func (a *analytics) walk(address string, others func(s setting) (values []string, ways int)) (open []string) {
	a.t.Helper()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	tries, tried := a.tries(client, address), 0
	names := slices.Sorted(maps.Keys(tries))
	for line := range strings.Lines(post(a.t, client, address,
		"SELECT name, type, value, readonly, is_obsolete FROM system.settings FORMAT JSONEachRow")) {
		var s setting
		require.NoError(a.t, json.Unmarshal([]byte(line), &s))
		if s.Readonly == 0 {
			open = append(open, s.Name)
		}
		values, ways := others(s)
		for _, value := range values {
			for range ways {
				way := names[tried%len(names)]
				tried++
				refusal := refusedSetting
				if way == inSubquery {
					refusal = refusedInSubquery
				}
				if value == another {
					value = s.other(a, client)
				}
				if text := tries[way](s.Name, value); !refusal.MatchString(text) {
					a.t.Errorf("%s sets %s to %q by %s: %.200s", address, s.Name, value, way, text)
				}
			}
		}
	}
	require.Greater(a.t, tried, 300)
	return open
}

// allWays of tries.
const allWays = 5

// Of all the server's settings, also those of a later release, an SQL user changes the few that are
// listed, within their bounds, by whatever way the user comes in. Here one user tries each of the
// others by one way: TestEverySettingIsBoundedByEveryWay has all of them.
func TestEverySettingOfAnSQLUserIsBounded(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for user, address := range []string{a.all, a.scoped} {
		i := 0
		open := a.walk(address, func(s setting) ([]string, int) {
			i++
			switch {
			case s.Readonly == 0:
				return changeable[s.Name], allWays
			case i%2 == user:
				return []string{another}, 1
			}
			return nil, 0
		})
		require.ElementsMatch(t, slices.Collect(maps.Keys(changeable)), open)
	}
}

// ofDBT are values that the user dbt may not give a setting.
func ofDBT(s setting) []string {
	switch {
	case s.Obsolete != 0 || !s.boundedForWriter():
		return nil
	case s.Name == "max_execution_time":
		return []string{"0", "601", "-1"}
	}
	return []string{another}
}

// The user dbt, who writes, changes no text and no limit, by whatever way it comes in.
func TestSettingsOfTheUserDBTAreBounded(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	a := shareAnalytics(t)
	address := a.as("dbt", "of dbt")
	a.walk(address, func(s setting) ([]string, int) {
		if s.Name == "max_execution_time" {
			return ofDBT(s), allWays
		}
		return ofDBT(s), 1
	})

	a.must(address, "CREATE DATABASE IF NOT EXISTS lodestone_dbt")
	const table = "CREATE OR REPLACE TABLE lodestone_dbt.%s (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS %s"
	web := "disk(type = web, endpoint = 'http://" + tr.Addr().String() + "/')"
	for _, disk := range []string{
		"disk = " + web, "disk = disk(type = cache, path = '" + a.file + "', max_size = 1, disk = " + web + ")",
		"disk = disk(type = local, path = '" + a.file + "')", "storage_policy = 'other'",
		"disk = 'default', table_disk = 1",
	} {
		status, text := a.ask(address, fmt.Sprintf(table, "bad", disk))
		require.NotEqual(t, http.StatusOK, status, disk)
		require.NotContains(t, text, "swordfish", disk)
	}
	require.Zero(t, tr.connections.Load())
	a.must(address, fmt.Sprintf(table, "good", "index_granularity = 1024"))
	a.must(address, "INSERT INTO lodestone_dbt.good SELECT 1 SETTINGS join_use_nulls = 1, mutations_sync = 2")
	a.must(address, "SELECT 1 SETTINGS max_execution_time = 600")
	// The statement would have connected.
	a.ask(a.own, fmt.Sprintf(table, "own", "disk = "+web))
	require.Positive(t, tr.connections.Load())
}

// userDBT is the file of the user dbt, with a password.
func userDBT(t *testing.T) string {
	t.Helper()
	user, err := os.ReadFile(filepath.Join("..", "..", "deploy", "dbt", "clickhouse-user.xml"))
	require.NoError(t, err)
	const login = `<password_sha256_hex from_env="CLICKHOUSE_DBT_PASSWORD_SHA256"/>`
	require.Contains(t, string(user), login)
	return strings.Replace(string(user), login, "<password>of dbt</password>", 1)
}

const inSubquery = "a subquery's SETTINGS"

// tries are the ways by which a user can set something. Each returns what the server says.
func (a *analytics) tries(client *http.Client, address string) map[string]func(name, value string) string {
	u, err := url.Parse(address)
	require.NoError(a.t, err)
	password, _ := u.User.Password()
	dial := func() *ch.Client {
		user := ch.Options{Address: a.native, Database: "analytics", User: u.User.Username(), Password: password}
		conn, err := ch.Dial(a.t.Context(), user)
		require.NoError(a.t, err)
		return conn
	}
	session := dial()
	a.t.Cleanup(func() { require.NoError(a.t, session.Close()) })
	literal := func(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" }
	byNative := func(conn *ch.Client, sql string, settings ...ch.Setting) string {
		err := conn.Do(a.t.Context(), ch.Query{Body: sql, Settings: settings})
		if refusal, ok := ch.AsException(err); ok {
			return fmt.Sprintf("Code: %d. %s", refusal.Code, refusal.Message)
		}
		return fmt.Sprint(err)
	}
	return map[string]func(name, value string) string{
		"the address": func(name, value string) string {
			return post(a.t, client, address+"&"+url.Values{name: {value}}.Encode(), "SELECT 1")
		},
		"SETTINGS": func(name, value string) string {
			return post(a.t, client, address, "SELECT 1 SETTINGS "+name+" = "+literal(value))
		},
		inSubquery: func(name, value string) string {
			return post(a.t, client, address, "SELECT * FROM (SELECT 1 SETTINGS "+name+" = "+literal(value)+")")
		},
		"the native protocol": func(name, value string) string {
			conn := dial() // the server hangs up after a setting that it refuses
			defer func() { require.NoError(a.t, conn.Close()) }()
			return byNative(conn, "SELECT 1", ch.Setting{Key: name, Value: value, Important: true})
		},
		"SET": func(name, value string) string {
			if name == "enable_producing_buckets_out_of_order_in_aggregation" {
				value = "1" // the server switches it off for a client as old as this one
			}
			return byNative(session, "SET "+name+" = "+literal(value))
		},
	}
}

// post sends a statement over connections that stay open, and returns the answer.
func post(t *testing.T, client *http.Client, address, sql string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(t, err)
	resp, err := client.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, errors.Join(err, resp.Body.Close()))
	return string(text)
}

// settingForms are statements of every kind that has SETTINGS.
var settingForms = []string{
	"SELECT formatRow('Template', 1, 2) %s", "SELECT 1 AS a FORMAT Template %s",
	"SELECT 1 %s FORMAT Protobuf SETTINGS max_threads = 1",
	"SELECT * FROM (SELECT formatRow('Template', 1, 2) %s)",
	"SELECT * FROM (SELECT * FROM (SELECT formatRow('Protobuf', 1, 2) %s))",
	"SELECT (SELECT 1 %s)", "SELECT 1 IN (SELECT 1 %s)", "SELECT EXISTS(SELECT 1 %s)",
	"WITH x AS (SELECT 1 %s) SELECT * FROM x",
	"SELECT * FROM view(SELECT 1 %s)", "SELECT * FROM viewIfPermitted(SELECT 1 %s ELSE null('a Int8'))",
	"SELECT 1 UNION ALL (SELECT 1 %s)", "(SELECT 1 %s) EXCEPT SELECT 2",
	"SELECT 1 FROM numbers(1) AS n JOIN (SELECT 1 AS number %s) AS m USING number",
	"EXPLAIN SELECT * FROM (SELECT 1 %s)", "SELECT * FROM (EXPLAIN SELECT 1 %s)",
	"DESCRIBE (SELECT formatRow('Template', 1, 2) %s)",
	"SHOW TABLES FORMAT Template %s", "EXISTS events FORMAT Template %s", "EXPLAIN AST SELECT 1 FORMAT Template %s",
}

// Whatever has SETTINGS names no file and no address, and no format reads one. Each setting is
// tried in two forms: TestNoSettingInAnyFormReachesAFile has all of them.
func TestNoSettingOrFormatOfAnSQLUserReachesAFile(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	a := shareAnalytics(t)
	client := &http.Client{}
	defer client.CloseIdleConnections()
	names := a.namesOfFiles()
	formats := strings.Fields(a.must(a.own, "SELECT name FROM system.formats WHERE is_output"))
	tried := 0
	for _, address := range []string{a.all, a.scoped} {
		for _, name := range names {
			for _, value := range []string{a.file, "http://" + tr.Addr().String() + "/"} {
				a.sets(client, address, settingForms[tried%len(settingForms)], name, value)
				tried++
			}
			if name == "format_template_row" {
				for _, form := range settingForms {
					a.sets(client, address, form, name, a.file)
				}
			}
		}
		for _, format := range formats {
			for _, sql := range []string{
				"SELECT 1 AS a, 'x' AS b FORMAT " + format, "SELECT formatRow('" + format + "', 1, 'x')",
				"SELECT * FROM format(" + format + ", $$" + a.file + "$$)",
			} {
				require.NotContains(t, post(t, client, address, sql), "swordfish", sql)
			}
		}
		const sql = "SELECT * FROM (SELECT getSetting('session_timezone') SETTINGS session_timezone = 'Asia/Tokyo')"
		require.Equal(t, "Asia/Tokyo", a.must(address, sql), "a subquery has what a user may set")
	}
	require.Greater(t, tried, 2*len(settingForms))
	text, err := os.ReadFile(a.file)
	require.NoError(t, err)
	require.Equal(t, "swordfish\n", string(text))
	require.Zero(t, tr.connections.Load())
	// The statement would have read the file.
	sql := fmt.Sprintf("SELECT * FROM (SELECT formatRow('Template', 1, 2) SETTINGS format_template_row = '%s')", a.file)
	require.Contains(t, post(t, client, a.own, sql), "swordfish")
}

// namesOfFiles are the settings that may name a file or an address.
func (a *analytics) namesOfFiles() []string {
	a.t.Helper()
	names := strings.Fields(a.must(a.own, `SELECT name FROM system.settings WHERE type IN ('String', 'URI')
		AND match(name, 'schema|template|path|file|url|dir|host|address|disk')`))
	require.Subset(a.t, names, []string{"format_template_row", "output_format_schema", "format_avro_schema_registry_url"})
	return names
}

// sets tries a statement that has SETTINGS.
func (a *analytics) sets(client *http.Client, address, form, name, value string) {
	a.t.Helper()
	sql := fmt.Sprintf(form, "SETTINGS "+name+" = '"+value+"'")
	require.Regexp(a.t, refusedSetting, post(a.t, client, address, sql), sql)
}

// A setting that is reset has the value of the program and not that of the profile, so it is not
// reset.
func TestAnSQLUserResetsNoSetting(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	const values = "SELECT name, value FROM system.settings WHERE changed ORDER BY name"
	for i, address := range []string{a.all, a.scoped} {
		session := address + "&session_id=" + strconv.Itoa(i)
		before := a.must(session, values)
		for line := range strings.Lines(before) {
			name, _, _ := strings.Cut(line, "\t")
			a.ask(session, "SET "+name+" = DEFAULT")
			is := "SELECT toString(getSetting('" + name + "'))"
			reset := is + " SETTINGS " + name + " = DEFAULT"
			for _, sql := range []string{reset, "SELECT * FROM (" + reset + ")"} {
				if status, text := a.ask(address, sql); status == http.StatusOK {
					require.Equal(t, a.must(address, is), text, sql)
				}
			}
		}
		require.Equal(t, before, a.must(session, values))
	}
}
