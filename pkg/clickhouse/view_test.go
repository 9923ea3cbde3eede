package clickhouse_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// The functions of reports are there for SQL users after a restart of the server. They are no part
// of a database, so a restored one lacks them: the next migration brings them back.
func TestFunctionsStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewMigratedClickHouse(t, dir)
	stop := enginetest.Run(t, server)
	_, err := clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	stop()

	server = enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	a := &analytics{t: t, own: server.HTTPURL(), all: server.SQLURL()}
	const ask = `SELECT lodestoneDevice('Mozilla/5.0 (iPhone)', ''), lodestonePageTime(700000), lodestoneFinishes(1, 4, 4), lodestoneHasPage(4, 5), lodestoneAttends(2000), lodestoneAttentive(3, 5),
		lodestoneSession(toUUID('00000000-0000-0000-0000-000000000000'), toUUID('00000000-0000-0000-0000-000000000001')) FORMAT CSV`
	const want = `"mobile",600000,1,0,1,1,"00000000-0000-0000-0000-000000000001"`
	require.Equal(t, want, a.must(a.all, ask))
	for name := range strings.Lines(a.must(a.own,
		"SELECT name FROM system.functions WHERE startsWith(name, 'lodestone')")) {
		a.must(a.own, "DROP FUNCTION "+strings.TrimSpace(name))
	}
	a.must(a.all, "SELECT device FROM sessions") // a view holds what it needs
	_, err = clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	require.Equal(t, want, a.must(a.all, ask))
}

// Televisions are neither tablets nor phones, and a Tablet PC is a desktop.
func TestKindsOfDevices(t *testing.T) {
	t.Parallel()
	conn := open(t)
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/87.0 Safari/537.36 WebAppManager":               "other",
		"Mozilla/5.0 (Linux; Android 9; BRAVIA 4K UR2 Build/PTT1) AppleWebKit/537.36 Chrome/120.0 Safari/537.36":      "other",
		"Mozilla/5.0 (Linux; Android 7.1.2; AFTMM Build/NS6265; wv) AppleWebKit/537.36 Chrome/120.0 Mobile Safari":    "other",
		"Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 SamsungBrowser/3.0 Chrome/76.0 TV Safari/537.36": "other",
		"Opera/9.80 (Linux armv7l; HbbTV/1.2.1 (; Philips; 47PFT;)) Presto/2.12.407 Version/12.50":                    "other",
		"Mozilla/5.0 (Linux; Android 9; Chromecast Google TV) AppleWebKit/537.36 Chrome/120.0 Safari/537.36":          "other",
		"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; Tablet PC 2.0)":                              "desktop",
		"Mozilla/5.0 (Linux; Android 15; SM-X810) AppleWebKit/537.36 Chrome/140.0 Safari/537.36":                      "tablet",
		"Mozilla/5.0 (Android 15; Tablet; rv:143.0) Gecko/143.0 Firefox/143.0":                                        "tablet",
		"Mozilla/5.0 (Linux; Android 9; KFTRWI) AppleWebKit/537.36 Silk/126.4.1 like Chrome/126.0 Safari/537.36":      "tablet",
		"Mozilla/5.0 (Linux; Android 7.0; RIVIERA F23) AppleWebKit/537.36 Chrome/72.0 Mobile Safari/537.36":           "mobile",
		"Mozilla/5.0 (Linux; Android 7.0; myA9 DTV) AppleWebKit/537.36 Chrome/76.0 Mobile Safari/537.36":              "mobile",
		"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0":                                      "desktop",
	} {
		require.Equal(t, []string{want}, texts(t, conn, "SELECT lodestoneDevice('"+agent+"', '')"), agent)
	}
}

// What one definition is of is the same in each table: a column there, a function where it is read
// off something else.
func TestOneDefinitionEach(t *testing.T) {
	conn := open(t)
	ctx := context.Background()
	require.NoError(t, conn.Exec(ctx,
		"CREATE OR REPLACE TABLE lodestone.probe (user_agent LowCardinality(String), bot LowCardinality(String), device LowCardinality(String) ALIAS lodestoneDevice(user_agent, bot)) ENGINE = Memory"))
	t.Cleanup(func() { require.NoError(t, conn.Exec(ctx, "DROP TABLE IF EXISTS lodestone.probe")) })
	for _, column := range []string{"device", "referrer_host"} {
		require.Len(t, texts(t, conn,
			"SELECT DISTINCT default_expression FROM system.columns WHERE database = 'lodestone' AND default_expression != '' AND name = '"+column+"'"), 1, column)
	}
}

// Without copied addresses, an SQL user can neither tell whose links are one person's, nor where
// that person works.
func TestPersonsAreHiddenWithoutTheirAddress(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	ada, bob, person := uuid.New(), uuid.New(), uuid.New()
	for id, email := range map[uuid.UUID]string{ada: "'ada@acme.example'", bob: "NULL"} {
		values := strings.NewReplacer("ACCOUNT", a.mine.String(), "LINK", id.String(), "EMAIL",
			email, "PERSON", person.String())
		for _, sql := range []string{
			"INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, page) VALUES ('ACCOUNT', 'LINK', 'LINK', 'page_viewed', 1)",
			"INSERT INTO lodestone.access_links (id, account_id, email, email_domain, person_id, version) VALUES ('LINK', 'ACCOUNT', EMAIL, 'acme.example', 'PERSON', 1)",
			"INSERT INTO lodestone.submissions (id, account_id, email, email_domain, person_id, version) VALUES ('LINK', 'ACCOUNT', EMAIL, 'acme.example', 'PERSON', 1)",
		} {
			a.must(a.own, values.Replace(sql))
		}
	}
	for view, id := range map[string]string{"access_links": "access_link_id", "submissions": "submission_id",
		"readers": "access_link_id"} {
		sql := "SELECT email, email_domain, person_id FROM " + view + " WHERE " + id + " = '%s' FORMAT CSV"
		for _, user := range []string{a.all, a.scoped} {
			require.Equal(t, fmt.Sprintf(`"ada@acme.example","acme.example","%s"`, person),
				a.must(user, fmt.Sprintf(sql, ada)), view)
			require.Equal(t, `\N,\N,\N`, a.must(user, fmt.Sprintf(sql, bob)), view)
		}
	}
}

// Some tools ask for NULL where a join finds nothing. The views join inside, and answer all the
// same.
func TestViewsAnswerWhateverJoinsGive(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for _, view := range clickhouse.Views() {
		sql := "SELECT * FROM " + view + " WHERE account_id = '" + a.mine.String() + "' FORMAT CSV"
		require.Equal(t, a.must(a.all, sql), a.must(a.all+"&join_use_nulls=1", sql), view)
	}
}

// A condition on the pages does not change what is counted of the others.
func TestPagesAreCountedBeforeTheyAreChosen(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for page := range 5 {
		a.must(a.own, fmt.Sprintf(
			"INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, event_id, event_type, magnet_version, page) VALUES ('%[1]s', '%[1]s', '%[3]s', '%[3]s', 'page_viewed', 7, %[2]d)", a.mine, page, uuid.New()))
	}
	require.Equal(t, "2,3",
		a.must(a.scoped, "SELECT page, reached FROM pages WHERE magnet_version = 7 AND page = 2 FORMAT CSV"))
}
