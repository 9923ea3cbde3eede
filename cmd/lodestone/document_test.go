package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// elsewhere are the programs whose commands TestCommandsOfDocuments does not run, and why. What
// they name is checked.
var elsewhere = map[string]string{
	"docker":                   "needs Docker; the laboratory's composecheck reads docker-compose.yml as Docker Compose does",
	"git":                      "changes the checkout",
	"go":                       "runs tests, or downloads a tool",
	"helm":                     "needs a cluster; the tests of the chart render it",
	"kind":                     "needs Docker",
	"kubectl":                  "needs a cluster",
	"kafka-configs.sh":         "TestCommandsOfEnginesInDocuments runs them",
	"kafka-consumer-groups.sh": "TestCommandsOfEnginesInDocuments runs them",
	"kafka-topics.sh":          "TestCommandsOfEnginesInDocuments runs them",
	"make":                     "builds and downloads; `make test` runs it, or a test of its own does",
	"minisign":                 "tests of cmd/lodestone-release run them",
	"node":                     "needs a browser; TestBrowser runs the program",
	"sha256sum":                "TestTheCommandsOfADownload of cmd/lodestone-release runs them",
	"npm":                      "installs packages; TestClients uses them",
	"pip":                      "installs packages; TestClients uses them",
	"rpk":                      "a program of others; TestTheTopicOfALogThatLostItsEndIsRecreated of ingest/consumer does what it does",
	"psql":                     "TestCommandsOfEnginesInDocuments runs them",
	"skopeo":                   "needs a registry",
	"sudo":                     "changes the machine",
	"systemctl":                "changes the machine",
	"tar":                      "TestTheCommandsOfADownload of cmd/lodestone-release runs that of the release; the other packs the site",
}

// pagesElsewhere are the pages whose blocks another test runs.
var pagesElsewhere = map[string]string{
	"docs/api.md": "TestAPIDocument runs each block, and compares its answer",
}

// notRun are further blocks that cannot run in this test, by the page and the beginning of the
// block, and why. They are checked.
var notRun = map[string]string{
	"README.md ./bin/lodestone demo":                  "TestUpFromTheFirstStartToTheSecond runs it",
	"docs/start.md lodestone demo":                    "TestUpFromTheFirstStartToTheSecond runs it",
	"docs/start.md lodestone up":                      "it runs already",
	"docs/demo.md lodestone demo --days":              "TestDemoOfThePast runs it",
	"docs/backup.md lodestone backup /backups":        "TestBackupDrill runs it; /backups is a directory of the machine",
	"docs/compose.md curl":                            "asks the stack of Docker Compose",
	"docs/copies.md    LODESTONE_CLICKHOUSE_URL_FILE": "needs a second ClickHouse; TestAStreamGoesOnInAnotherCopy migrates one",
	"docs/copies.md    lodestone verify":              "the same; TestCopiesAreComparedByPartitionAndOffset compares two",
	"docs/copies.md    lodestone query":               "a server; TestAnotherCopyAnswersForOneThatIsAway reads two copies",
	"docs/dashboard.md lodestone crud":                "a server; TestBrowser signs in by it",
	"docs/export.md lodestone export daily":           "needs a bucket; TestDailyExport runs it",
	"docs/mcp.md lodestone mcp":                       "a server; TestAgentsGetTheNumbersOfTheAPIAndOfSQL runs it",
	"docs/operations.md    lodestone repartition":     "TestATopicWithMorePartitions runs it, under load",
	"docs/privacy.md lodestone verify --person":       "finds something until the copies for SQL are gone too; TestErasingAPerson waits for that",
	"docs/privacy.md lodestone account delete":        "needs a bucket; TestDeletingAnAccount runs it",
	"docs/tls.md lodestone query":                     "servers; TestServersOfTheTLSDocument runs both",
}

// prepared maps a page to the shell commands that run before its first block.
var prepared = map[string]string{
	"docs/beacon.md":  `link=$GENERIC_LINK`,
	"docs/mcp.md":     `ACCOUNT=$ACCOUNT_ID`,
	"docs/reports.md": `magnet=$MAGNET`,
	"docs/sql.md":     `echo "SELECT count() FROM events" > report.sql`,
}

// replaced are the examples in blocks that stand for something of the reader's own.
var replaced = map[string]map[string]string{
	"docs/dashboard.md": {"01a21082-79c9-72b4-8722-3a101ce8046c": "$ACCOUNT_ID"},
	"docs/export.md":    {"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55": "$GENERIC_LINK"},
	"docs/sql.md":       {"0198c0de-…": "$ACCOUNT_ID"},
}

// printed maps a page to the texts that its commands have to print.
var printed = map[string][]string{
	"docs/start.md": {
		`{"accepted":1,"rejected":[]}`, `"event_type":"page_viewed","event_data":{"page":1,"duration_ms":8200}`,
		`"total_links":1,"total_views":`, "│ page_viewed │", "/l/worth-the-email", // views are counted a little later
	},
	"docs/mail.md":    {`[`},
	"docs/privacy.md": {`"submissions"`, `"receipt"`},
	"docs/upgrade.md": {"no migration is pending", " 0 fail"},
}

// databases are where the SQL of a page runs, if not as the user of SQL that docs/sql.md is about.
// Statements that change something are read and not run, or rolled back.
var databases = map[string]func(t *testing.T, app *up, dir, statement string){
	"docs/backup.md":     onPostgres,
	"docs/copies.md":     onPostgres,
	"docs/mail.md":       onPostgres,
	"docs/privacy.md":    onPostgres,
	"docs/operations.md": parsedByClickHouse,
	"docs/export.md":     onDuckDB,
}

// Every command in the documentation runs here against `lodestone up`, or says above why it cannot.
// Those that cannot are checked: the flags, settings, files, targets, services and paths that they
// name exist.
func TestCommandsOfDocuments(t *testing.T) { //nolint:tparallel // because pages share an installation, and one page makes what others ask about
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	blocks := documentBlocks(t, root)
	used := map[string]bool{}
	check := newChecker(t, root, blocks)
	run := map[string][]block{}
	for _, b := range blocks {
		check.block(b)
		if b.runs(t, used) {
			run[b.page] = append(run[b.page], b)
		}
	}
	for which := range notRun {
		if !used[which] {
			t.Errorf("notRun has %q, which is the beginning of no block any more: remove it", which)
		}
	}

	app := newUp(t)
	require.NoError(t, os.Symlink(filepath.Join(root, "cmd"), filepath.Join(app.dir, "cmd")))
	app.start()
	_, spec := get(t, app.env["LODESTONE_URL"]+"/api/v1/openapi.json", "")
	check.paths(spec)
	order := slices.Sorted(maps.Keys(run))
	// it makes what others ask about
	order = append([]string{"docs/start.md"},
		slices.DeleteFunc(order, func(page string) bool { return page == "docs/start.md" })...)
	for _, page := range order {
		t.Run(page, func(t *testing.T) { app.runPage(t, page, run[page]) })
	}
}

// runs reports whether the test runs the block, and which entry of notRun says no.
func (b block) runs(t *testing.T, used map[string]bool) bool {
	t.Helper()
	if b.language != "sh" && b.language != "sql" || pagesElsewhere[b.page] != "" {
		return false
	}
	for which := range notRun {
		if strings.HasPrefix(b.page+" "+b.text, which) {
			used[which] = true
			return false
		}
	}
	for _, name := range b.programs() {
		if elsewhere[name] != "" {
			return false
		}
	}
	return true
}

// script returns what runs commands of a page in a shell, until one fails.
func script(t *testing.T, commands string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
}

// runPage runs the blocks of a page in one shell, in their order, as a reader does who follows the
// page.
func (u *up) runPage(t *testing.T, page string, blocks []block) {
	t.Helper()
	dir := enginetest.Dir(t)
	for _, name := range []string{"cmd", "data"} {
		require.NoError(t, os.Symlink(filepath.Join(u.dir, name), filepath.Join(dir, name)))
	}
	var commands strings.Builder
	commands.WriteString(u.prelude(t) + prepared[page] + "\n")
	for _, b := range blocks {
		if b.language == "sh" {
			text := b.text
			for example, own := range replaced[page] {
				text = strings.ReplaceAll(text, example, own)
			}
			fmt.Fprintf(&commands, "echo '== line %d'\n%s", b.line, text)
		}
	}
	cmd := script(t, commands.String())
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err,
		"The commands of %s fail behind the last of these lines. If they cannot run in a test, say in notRun of document_test.go why; if they need something, make it in prepared.\n%s", page, out)
	for _, want := range printed[page] {
		require.Contains(t, string(out), want, "%s", page)
	}
	for _, b := range blocks {
		if b.language != "sql" {
			continue
		}
		on := databases[page]
		if on == nil && regexp.MustCompile(`^(ALTER|CREATE|GRANT) `).MatchString(b.text) { // of an operator
			on = parsedByClickHouse
		}
		if on != nil {
			on(t, u, dir, b.text)
			continue
		}
		asked := launch(t, dir, nil, "sql", b.text)
		require.Zero(t, asked.wait(), "%s:%d: %s", page, b.line, asked.out)
	}
}

// prelude is the shell that a reader has: the program on the path, the addresses and the key of
// `lodestone up`, and ids of things that exist. A request that is refused fails.
func (u *up) prelude(t *testing.T) string {
	t.Helper()
	id := func(path string) string {
		_, answer := get(t, u.env["LODESTONE_URL"]+path, u.env["LODESTONE_API_KEY"])
		var list struct {
			ID   string                `json:"id"`
			Data []struct{ ID string } `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &list), answer)
		if list.ID != "" {
			return list.ID
		}
		require.NotEmpty(t, list.Data, path)
		return list.Data[0].ID
	}
	return fmt.Sprintf(`PATH=%s:$PATH
set -a; source data/lodestone.env; set +a
unset LODESTONE_SQL_USER
curl() { case " $* " in *" -sSf "*) command curl "$@" ;; *) command curl --fail-with-body "$@" ;; esac; }
ACCOUNT_ID=%s MAGNET=%s GENERIC_LINK=%s
`, binaries(t), id("/api/v1/account"), id("/api/v1/lead-magnets"), id("/api/v1/generic-links"))
}

func onPostgres(t *testing.T, app *up, _, statement string) {
	t.Helper()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, strings.Trim(app.env["LODESTONE_POSTGRES_URL"], "'"))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	_, err = tx.Exec(ctx, strings.ReplaceAll(statement, "ALTER ROLE lodestone ", "ALTER ROLE CURRENT_USER "))
	require.NoError(t, err, statement)
}

func parsedByClickHouse(t *testing.T, app *up, _, statements string) {
	t.Helper()
	for statement := range strings.SplitSeq(strings.TrimSpace(statements), ";\n") {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			strings.Trim(app.env["LODESTONE_CLICKHOUSE_HTTP_URL"], "'"),
			strings.NewReader("EXPLAIN AST "+strings.TrimSuffix(statement, ";")))
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s\n%s", statement, text)
	}
}

// onDuckDB runs a statement on the files that the page's commands wrote. Those of the daily export
// are not there; the export of one day is.
func onDuckDB(t *testing.T, _ *up, dir, statement string) {
	t.Helper()
	statement = strings.NewReplacer("'events.parquet'", "'"+filepath.Join(dir, "events.parquet")+"'",
		"SELECT day, count(*) FROM read_parquet('archive/events/**/*.parquet', hive_partitioning = true)",
		"SELECT created_at::DATE AS day, count(*) FROM read_parquet('"+filepath.Join(dir, "*.parquet")+
			"', hive_partitioning = true)").Replace(statement)
	rows, err := duckdb(t, statement)
	require.NoError(t, err, statement)
	require.NotEmpty(t, rows)
}

// documentBlocks returns every block of code of the repository's Markdown.
func documentBlocks(t *testing.T, root string) (blocks []block) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard", "--", "*.md")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for page := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, page))
		if os.IsNotExist(err) || page == "CHANGELOG.md" {
			continue
		}
		require.NoError(t, err)
		blocks = append(blocks, blocksOf(page, string(text))...)
	}
	require.Greater(t, len(blocks), 200)
	require.True(t, slices.ContainsFunc(blocks, func(b block) bool { return b.page == "docs/start.md" }))
	return blocks
}
