package dbtcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// dbt builds every model and passes every test, as a user who can write to the models' database
// only.
func TestProject(t *testing.T) {
	root, err := enginetest.Root()
	require.NoError(t, err)
	tool := filepath.Join(root, ".cache", "dbt", "bin", "dbt")
	if _, err := os.Stat(tool); err != nil {
		require.Fail(t, "dbt is not installed: `make dbt-tools` does it", err.Error())
	}
	project, dir := filepath.Join(root, "deploy", "dbt"), t.TempDir()
	user, err := os.ReadFile(filepath.Join(project, "clickhouse-user.xml"))
	require.NoError(t, err)
	sum := sha256.Sum256([]byte("of dbt"))
	t.Setenv("CLICKHOUSE_DBT_PASSWORD_SHA256", hex.EncodeToString(sum[:]))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "users.d"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users.d", "dbt.xml"), user, 0o600))
	server := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, server)
	_, err = clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	own := func(sql string) { ask(t, server.HTTPURL(), sql) }
	test.WriteCampaign(own)
	// Something is fresh, and of a bot, so that nothing else changes.
	own("INSERT INTO lodestone.events (account_id, event_type, bot, created_at, received_at) VALUES ('" +
		test.CampaignAccount + "', 'page_viewed', 'probe', now64(3), now64(3))")
	own("INSERT INTO lodestone.link_views (account_id, bot, created_at, received_at) VALUES ('" + test.CampaignAccount +
		"', 'probe', now64(3), now64(3))")

	address, err := url.Parse(server.HTTPURL())
	require.NoError(t, err)
	// The commands are those of the document, in a copy of the project.
	require.NoError(t, os.CopyFS(filepath.Join(dir, "dbt"), os.DirFS(project)))
	document, err := os.ReadFile(filepath.Join(root, "docs", "sql.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(document), "\n**dbt.** ")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n**")
	commands := regexp.MustCompile("`dbt ([^`]+)`").FindAllStringSubmatch(section, -1)
	require.GreaterOrEqual(t, len(commands), 3, "among them a build over what is there")
	for _, command := range commands {
		cmd := exec.CommandContext(t.Context(), tool, strings.Fields(command[1])...)
		cmd.Dir = filepath.Join(dir, "dbt")
		cmd.Env = append(os.Environ(), "LODESTONE_DBT_HOST="+address.Hostname(), "LODESTONE_DBT_PORT="+address.Port(),
			"LODESTONE_DBT_PASSWORD=of dbt",
			"DBT_SEND_ANONYMOUS_USAGE_STATS=false", "DBT_VERSION_CHECK=false")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", command[0], out)
		require.NotContains(t, strings.ReplaceAll(string(out), "WARN=0", ""), "WARN", command[0])
	}

	address.User, address.Path = url.UserPassword("dbt", "of dbt"), ""
	mart := func(sql string) string {
		return strings.ReplaceAll(ask(t, address.String(), sql+" FORMAT TSV"), "\t", " ")
	}
	require.Equal(t, `  2 1 1 1
google spring 9 4 3 1
newsletter march issue 3 2 1 1`, mart("SELECT utm_source, utm_campaign, visitors, submissions, readers, finished FROM lodestone_dbt.fct_campaigns ORDER BY utm_source"))
	//nolint:dupword // because these are columns of a table
	require.Equal(t, `ada@acme.example Checklist \N 1 1 0 true true
ada@acme.example Guide spring 2 1 1 true true
bob@acme.example Guide spring 1 0.17 0 false false
cy@mail.example Guide spring 1 0.03 0 false false
dora@beta.example Guide march issue 1 0.4 0 true true`, mart(`SELECT email, title, utm_campaign, sessions, minutes, downloads, finished, attentive
		FROM lodestone_dbt.fct_readers ORDER BY email, title`))
	for _, sql := range []string{"SELECT * FROM lodestone.events", "CREATE TABLE analytics.t (a Int8) ENGINE = Memory",
		"INSERT INTO lodestone.events (page) VALUES (1)"} {
		_, text := post(t, address.String(), sql)
		require.Contains(t, text, "ACCESS_DENIED", sql)
	}
}

func ask(t *testing.T, address, sql string) string {
	t.Helper()
	status, text := post(t, address, sql)
	require.Equal(t, http.StatusOK, status, "%s: %s", sql, text)
	return text
}

func post(t *testing.T, address, sql string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, strings.TrimRight(string(body), "\n")
}
