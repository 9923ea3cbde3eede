package clickhouse_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/test/enginetest"
)

// analytics is a migrated server with two accounts' rows, its analyst, and one of the first
// account.
type analytics struct {
	t            *testing.T
	all, scoped  string // addresses over HTTP
	own          string // that of our own user, who may do anything
	mine, theirs uuid.UUID
	name         string // of the analyst of the first account
	native       string // host and port
	file         string // that no SQL user may read
}

// newAnalytics starts a server for the test alone, with more files of configuration by their names.
func newAnalytics(t *testing.T, more map[string]string) *analytics {
	t.Helper()
	a := &analytics{t: t, mine: uuid.New(), theirs: uuid.New(), name: "analyst_acme"}
	dir := t.TempDir()
	files := maps.Clone(more)
	files["users.d/acme.xml"] = a.user(t, a.name)
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	server := enginetest.NewMigratedClickHouse(t, dir)
	enginetest.Run(t, server)
	a.find(server)
	a.plant()
	return a
}

// user is the file of a user of the first account.
func (a *analytics) user(t *testing.T, name string) string {
	t.Helper()
	text, err := clickhouse.Analyst{Name: name, Account: a.mine, Password: "of acme"}.File()
	require.NoError(t, err)
	return text
}

// shared has the accounts of the tests that share a server: the first two are of tests whose users
// it has besides.
var shared struct {
	accounts [40]analytics
	planted  [40]sync.Once
	taken    atomic.Int32
}

const (
	ofMovers = iota
	ofBoth
	ofOthers
)

// shareAnalytics returns accounts of the test's own on a server whose users may ask as much as they
// like.
func shareAnalytics(t *testing.T) *analytics {
	t.Helper()
	return shareAnalyticsOf(t, ofOthers+int(shared.taken.Add(1))-1)
}

func shareAnalyticsOf(t *testing.T, i int) *analytics {
	t.Helper()
	server := enginetest.ConfiguredServer(t, "analytics", func() map[string]string {
		files := map[string]string{"users.d/unhurried.xml": unhurried, "users.d/dbt.xml": userDBT(t)}
		for i := range shared.accounts {
			a := &shared.accounts[i]
			a.mine, a.theirs, a.name = uuid.New(), uuid.New(), fmt.Sprintf("analyst_acme%02d", i)
			files["users.d/"+a.name+".xml"] = a.user(t, a.name)
		}
		maps.Copy(files, moverFiles(t, &shared.accounts[ofMovers]))
		both := shared.accounts[ofBoth]
		files["users.d/both.xml"] = strings.ReplaceAll(both.user(t, "both"),
			fmt.Sprintf("account_id = toUUID('%s')", both.mine),
			fmt.Sprintf("account_id IN ('%s', '%s')", both.mine, both.theirs))
		return files
	})
	a := shared.accounts[i]
	a.t = t
	a.find(server)
	shared.planted[i].Do(a.plant) // two tests of the long forms have the movers
	return &a
}

// find finds the addresses of the server.
func (a *analytics) find(server *engine.ClickHouse) {
	a.t.Helper()
	a.file = filepath.Join(a.t.TempDir(), "passwd")
	require.NoError(a.t, os.WriteFile(a.file, []byte("swordfish\n"), 0o644))
	_, err := clickhouse.Migrate(a.t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(a.t, err)
	a.own, a.all = server.HTTPURL(), server.SQLURL()
	a.scoped = a.as(a.name, "of acme")
	n, err := url.Parse(server.URL())
	require.NoError(a.t, err)
	a.native = n.Host
}

// plant gives the accounts a row of each table.
func (a *analytics) plant() {
	a.t.Helper()
	for _, sql := range []string{
		"events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, page, duration_ms) SELECT ?, ?, ?, ?, ?, 'page_viewed', 1, 1000",
		"link_views (account_id, generic_link_id, event_id) SELECT ?, ?, ?",
		"lead_magnets (id, account_id, title, version) SELECT ?, ?, concat('of ', toString(?)), 1",
		"generic_links (id, account_id, slug, version) SELECT ?, ?, concat('of ', toString(?)), 1",
		"access_links (id, account_id, version) SELECT ?, ?, 1",
		"suspects (id, account_id, version) SELECT ?, ?, 1",
		"submissions (id, account_id, version) SELECT ?, ?, 1",
	} {
		a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.%s FROM (SELECT arrayJoin([toUUID('%s'), toUUID('%s')]) AS id)",
			strings.ReplaceAll(sql, "?", "id"), a.mine, a.theirs))
	}
}

// as is the address over HTTP of another user.
func (a *analytics) as(user, password string) string {
	a.t.Helper()
	u, err := url.Parse(a.all)
	require.NoError(a.t, err)
	u.User = url.UserPassword(user, password)
	return u.String()
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
	a := shareAnalytics(t)
	require.Equal(t, strings.Join(slices.Sorted(slices.Values(clickhouse.Views())), "\n"), a.must(a.scoped, "SHOW TABLES"))
	for _, view := range clickhouse.Views() {
		require.Equal(t, "2", a.must(a.all, fmt.Sprintf("SELECT count() FROM %s WHERE account_id IN ('%s', '%s')",
			view, a.mine, a.theirs)), view)
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
		_, text := a.ask(a.scoped,
			fmt.Sprintf("SELECT throwIf(1, toString(account_id)), * FROM %s WHERE throwIf(account_id = '%s', 'found') = 0", view,
				a.theirs))
		require.NotContains(t, text, "found", view)
		for _, sql := range []string{
			"SELECT * FROM merge('analytics', '^%s$')", "SELECT * FROM merge(REGEXP('.*'), '^%s$')",
			"SELECT * FROM loop(lodestone.%s)", "SELECT * FROM lodestone.%s",
			"SELECT * FROM viewIfPermitted(SELECT * FROM lodestone.%s ELSE null('a Int8'))",
		} {
			_, text := a.ask(a.scoped, fmt.Sprintf(sql, view))
			require.NotContains(t, text, a.theirs.String(), sql)
		}
	}
	status, text := a.ask(a.scoped,
		"SELECT account_id FROM events SETTINGS additional_table_filters = {'analytics.events': '1'}")
	require.True(t, refused(status, text, nil), text)
	a.must(a.own, "CREATE OR REPLACE VIEW analytics.later DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM lodestone.events")
	status, text = a.ask(a.scoped, "SELECT * FROM later")
	require.True(t, refused(status, text, nil),
		"what a later release shows is not for scoped users until they are given it: %s", text)
}

// As Grafana's plugin and programs in Go connect, with the settings that they send.
func TestAnalystByDriver(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	u, err := url.Parse(a.all)
	require.NoError(t, err)
	password, _ := u.User.Password()
	for _, protocol := range []native.Protocol{native.Native, native.HTTP} {
		host := u.Host
		if protocol == native.Native {
			host = a.native
		}
		conn, err := native.Open(&native.Options{
			Addr: []string{host}, Protocol: protocol, Auth: native.Auth{Database: "analytics",
				Username: "analyst", Password: password},
			Settings: native.Settings{"max_execution_time": 60},
		})
		require.NoError(t, err)
		var rows uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM sessions WHERE account_id = ?",
			a.mine).Scan(&rows), protocol)
		require.EqualValues(t, 1, rows)
		require.Error(t, conn.Exec(t.Context(), "INSERT INTO analytics.events (page) VALUES (1)"))
		require.NoError(t, conn.Close())
	}
}

func TestNamesOfAnalysts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "analyst", "lodestone", "default", "a b", "a><b", "Ä",
		"a-b", strings.Repeat("a", 64)} {
		_, err := clickhouse.Analyst{Name: name, Account: uuid.New(), Password: "x"}.File()
		require.ErrorContains(t, err, "--name", name)
	}
	_, err := clickhouse.Analyst{Name: "a", Password: "x"}.File()
	require.ErrorContains(t, err, "--account")
	_, err = clickhouse.Analyst{Name: "a", Account: uuid.New()}.File()
	require.ErrorContains(t, err, "password")
}
