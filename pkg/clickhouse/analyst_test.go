package clickhouse_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
	file         string // that no SQL user may read
}

// newAnalytics starts the server, with more files of configuration by their names, if any.
func newAnalytics(t *testing.T, more map[string]string) *analytics {
	t.Helper()
	return newAnalyticsOf(t, func(*analytics) map[string]string { return more })
}

// newAnalyticsOf is newAnalytics with files that depend on the accounts.
func newAnalyticsOf(t *testing.T, files func(*analytics) map[string]string) *analytics {
	t.Helper()
	a := &analytics{t: t, mine: uuid.New(), theirs: uuid.New(), file: filepath.Join(t.TempDir(), "passwd")}
	more := files(a)
	require.NoError(t, os.WriteFile(a.file, []byte("swordfish\n"), 0o644))
	dir := t.TempDir()
	text, err := clickhouse.Analyst{Name: "analyst_acme", Account: a.mine, Password: "of acme"}.File()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "users.d"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users.d", "acme.xml"), []byte(text), 0o600))
	for name, text := range more {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	server := enginetest.NewMigratedClickHouse(t, dir)
	enginetest.Run(t, server)
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
			"INSERT INTO lodestone.submissions (id, account_id, version) VALUES ('%[1]s', '%[1]s', 1)",
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
	a := newAnalytics(t, nil)
	require.Equal(t, strings.Join(slices.Sorted(slices.Values(clickhouse.Views())), "\n"), a.must(a.scoped, "SHOW TABLES"))
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
	require.True(t, refused(status, text, nil), text)
	a.must(a.own, "CREATE VIEW analytics.later DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM lodestone.events")
	status, text = a.ask(a.scoped, "SELECT * FROM later")
	require.True(t, refused(status, text, nil), "what a later release shows is not for scoped users until they are given it: %s", text)
}

// As Grafana's plugin and programs in Go connect, with the settings that they send.
func TestAnalystByDriver(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, nil)
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
