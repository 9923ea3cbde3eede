package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// firstSchema is the number of the first migration of each store, which finds no rows and no
// programs: the rules hold for those after it.
const firstSchema = 205

// growingTables are the tables of Postgres that have a row for each link, reader, file or request.
// A migration must not read or write all of one while others wait.
var growingTables = []string{
	"acceptances",
	"access_link_counts", "access_links", "audit_log", "counted_sessions", "deleted_links", "downloads", "entity_changes",
	"erased_links", "erasure_copies", "erasures",
	"file_objects", "file_removals", "generic_link_counts", "generic_links", "idempotency_keys",
	"landing_minutes", "lead_magnet_file_chunks",
	"lead_magnet_files", "lead_magnets", "page_pictures", "pictures", "profiles", "rate_limits",
	"reading_notices", "recipients",
	"retired_slugs", "revocations", "river_job",
	"sessions", "sign_ins", "submissions", "suspects", "unsubscribes", "user_sessions",
	"verifications", "visitor_counts", "webhook_deliveries",
}

// smallTables are all others: they have a row for each account, user, partition or month, or a
// single one.
var smallTables = []string{
	"accounts", "agreements",
	"alert_rules", "alerts", "api_keys", "copies", "counted_partitions", "counting_copy", "embeds",
	"entity_copy",
	"erasure_looks", "event_usage", "invitations", "ip_salts", "lost_ranges", "memberships",
	"openid_identities", "openid_requests", "partition_placements", "passkey_challenges", "passkeys",
	"reminder_rules",
	"report_keys", "restored", "retention_progress",
	"retention_setting", "revocation_log", "river_leader", "river_migration", "river_notification", "river_queue",
	"rounds", "session_expiry", "shares", "store_pulse", "topic_groups", "topics", "users",
	"utm_templates", "views", "webhook_endpoints",
	"webhook_secrets",
}

var growing = "(?:" + strings.Join(growingTables, "|") + ")"

var (
	lockingPostgres = map[string]*regexp.Regexp{
		"make the index with CREATE INDEX CONCURRENTLY, in a migration with NO TRANSACTION": regexp.MustCompile(
			`(?i)CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\w+ ON (?:ONLY )?` + growing + `\b`),
		"drop the index with DROP INDEX CONCURRENTLY, in a migration with NO TRANSACTION": regexp.MustCompile(
			`(?i)DROP INDEX (?:IF EXISTS )?` + growing + `_`),
		"add the constraint as NOT VALID, and validate it in a later migration": regexp.MustCompile(
			`(?i)ALTER TABLE (?:ONLY )?` + growing + `\b[^;]*ADD (?:CONSTRAINT \w+ )?(?:CHECK|FOREIGN KEY)\b`),
		"add another column instead of rewriting the table": regexp.MustCompile(
			`(?i)ALTER TABLE (?:ONLY )?` + growing +
				`\b[^;]*(?:\bTYPE\b|GENERATED ALWAYS AS \([^;]*STORED|DEFAULT (?:gen_random_uuid|clock_timestamp|random)\()`),
		"change rows in the background, in batches": regexp.MustCompile(
			`(?im)^(?:UPDATE|DELETE FROM) (?:ONLY )?` + growing + `\b`),
		"lock no table": regexp.MustCompile(`(?i)\bLOCK TABLE\b`),
	}
	notValid = regexp.MustCompile(`(?i)NOT VALID\s*;$`)
	// unlocking are the statements of migrations without a transaction: others could stay half done,
	// or wait without a bound.
	unlocking = regexp.MustCompile(
		`(?i)^(?:(?:CREATE (?:UNIQUE )?|DROP )INDEX CONCURRENTLY|ALTER TABLE \w+ (?:SET \(|VALIDATE CONSTRAINT))`)
	created = regexp.MustCompile(`(?i)CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+)`)

	// breaking matches statements that break the previous release, which runs during the migration
	// and after it.
	breaking = regexp.MustCompile(
		`(?i)\b(?:DROP TABLE|ALTER TABLE [^;]*(?:\bDROP COLUMN\b|\bSET NOT NULL\b)|ALTER (?:TABLE|VIEW|TYPE) [^;]*\bRENAME (?:COLUMN\b|TO\b|VALUE\b|\w+ TO\b))[^;]*;`)

	rewriting = regexp.MustCompile(
		`(?is)ALTER TABLE [^;]*\b(?:UPDATE|DELETE|MATERIALI[Z]E|CLEAR|DROP PROJECTION|DROP COLUMN|MODIFY COLUMN)\b[^;]*;`)
	waiting  = regexp.MustCompile(`(?is)(?:mutations_sync|alter_sync)\s*=\s*[12]|\bOPTIMIZE TABLE\b`)
	indexing = regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)`)
	creating = regexp.MustCompile(`(?im)^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)`)
	comment  = regexp.MustCompile(`--[^\n]*`)
)

// A new migration lets ingestion and the API go on, however large the tables are.
func TestMigrationsAreBounded(t *testing.T) {
	t.Parallel()
	for _, m := range migrations(t, "postgres", firstSchema+1) {
		for _, wrong := range unboundedPostgres(m.text) {
			t.Errorf("%s: %s", m.name, wrong)
		}
		if wrong := breakingPostgres(m.text); wrong != "" {
			t.Errorf("%s: do this one release later (docs/upgrade.md): %s", m.name, wrong)
		}
	}
	for _, m := range migrations(t, "clickhouse", firstSchema+1) {
		for _, wrong := range unboundedClickHouse(m.text) {
			t.Errorf("%s: %s", m.name, wrong)
		}
	}
}

// The rules hold for each table that grows, so each new one is judged.
func TestEveryTableIsKnownToGrowOrNot(t *testing.T) {
	t.Parallel()
	var tables []string
	for _, m := range migrations(t, "postgres", 0) {
		for _, created := range creating.FindAllStringSubmatch(comment.ReplaceAllString(m.text, ""), -1) {
			tables = append(tables, created[1])
		}
	}
	slices.Sort(tables)
	known := slices.Concat(growingTables, smallTables)
	slices.Sort(known)
	require.Equal(t, slices.Compact(tables), known, "put a new table into one of the lists")
}

type migration struct{ name, text string }

// migrations returns those from a version on.
func migrations(t *testing.T, engine string, first int) (found []migration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", engine, "migrations", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		number, _, _ := strings.Cut(filepath.Base(file), "_")
		version, err := strconv.Atoi(number)
		require.NoError(t, err)
		if version < first {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found = append(found, migration{filepath.Join(engine, filepath.Base(file)), string(text)})
	}
	return found
}

func unboundedPostgres(text string) (wrong []string) {
	free := strings.Contains(text, "+goose NO TRANSACTION")
	up, _, _ := strings.Cut(text, "-- +goose Down")
	up = comment.ReplaceAllString(up, "")
	dropped, fresh := "", map[string]bool{}
	for _, table := range creating.FindAllStringSubmatch(up, -1) {
		fresh[table[1]] = true
	}
	for statement := range strings.SplitAfterSeq(up, ";") {
		statement = strings.TrimSpace(statement)
		if statement == "" {
			continue
		}
		if index := indexing.FindStringSubmatch(statement); index != nil && fresh[index[1]] {
			continue // the table is empty
		}
		for remedy, pattern := range lockingPostgres {
			if pattern.MatchString(statement) && !notValid.MatchString(statement) {
				wrong = append(wrong, remedy+": "+statement)
			}
		}
		if !free {
			continue
		}
		if !unlocking.MatchString(statement) {
			wrong = append(wrong, "put this into a migration with a transaction: "+statement)
		}
		if index := created.FindStringSubmatch(statement); index != nil && !strings.Contains(dropped,
			"DROP INDEX CONCURRENTLY IF EXISTS "+index[1]+";") {
			wrong = append(wrong, "drop "+index[1]+" first, as an interrupted try leaves an index that is not valid: "+statement)
		}
		dropped += statement
	}
	return wrong
}

// breakingPostgres returns a statement that programs of the release before cannot work with, unless
// the migration says so.
func breakingPostgres(text string) string {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	return breaking.FindString(comment.ReplaceAllString(up, ""))
}

func unboundedClickHouse(text string) (wrong []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	up = comment.ReplaceAllString(up, "")
	for _, statement := range rewriting.FindAllString(up, -1) {
		if !strings.Contains(statement, "mutations_sync = 0") || !strings.Contains(statement, "alter_sync = 0") {
			wrong = append(wrong, "end this with SETTINGS alter_sync = 0, mutations_sync = 0: "+statement)
		}
	}
	if found := waiting.FindString(up); found != "" {
		wrong = append(wrong, "wait for no rewriting of rows: "+found)
	}
	return wrong
}

func TestUnboundedMigrationsAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"CREATE INDEX x ON sessions (id);",
		"CREATE INDEX x ON counted_sessions (id);",
		"CREATE UNIQUE INDEX x ON access_links (id);",
		"DROP INDEX sessions_open;",
		"ALTER TABLE submissions ADD CONSTRAINT c CHECK (true);",
		"ALTER TABLE submissions ADD COLUMN a text, ADD CONSTRAINT c CHECK (a <> '');",
		"ALTER TABLE audit_log ALTER COLUMN action TYPE varchar;",
		"ALTER TABLE sessions ADD COLUMN b boolean GENERATED ALWAYS AS (true) STORED;",
		"UPDATE access_links SET is_active = true;",
		"LOCK TABLE accounts;",
		"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY x ON sessions (id);",
		"-- +goose NO TRANSACTION\nCREATE TABLE x (id uuid);",
	} {
		require.NotEmpty(t, unboundedPostgres(text), text)
	}
	for _, text := range []string{
		"CREATE TABLE sessions (id uuid);\nCREATE INDEX sessions_id ON sessions (id);",
		"ALTER TABLE submissions ADD COLUMN a text;",
		"ALTER TABLE submissions ADD CONSTRAINT c CHECK (true) NOT VALID;",
		"-- +goose NO TRANSACTION\nDROP INDEX CONCURRENTLY IF EXISTS x;\nCREATE INDEX CONCURRENTLY x ON sessions (id);\nALTER TABLE submissions VALIDATE CONSTRAINT c;",
		"UPDATE retention_setting SET months = 1; -- one row\n-- +goose Down\nUPDATE access_links SET is_active = true;",
	} {
		require.Empty(t, unboundedPostgres(text), text)
	}
	for _, text := range []string{
		"ALTER TABLE lodestone.events MATERIALIZE COLUMN a;",
		"ALTER TABLE lodestone.events UPDATE a = 1 WHERE 1 SETTINGS mutations_sync = 2;",
		"OPTIMIZE TABLE lodestone.events FINAL;",
	} {
		require.NotEmpty(t, unboundedClickHouse(text), text)
	}
	require.Empty(t, unboundedClickHouse(
		"ALTER TABLE lodestone.events ADD COLUMN a UInt8;\nALTER TABLE lodestone.events MATERIALIZE COLUMN a SETTINGS alter_sync = 0, mutations_sync = 0;"))
}

func TestBreakingMigrationsAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"DROP TABLE x;",
		"ALTER TABLE x DROP COLUMN a;",
		"ALTER TABLE x ADD COLUMN b text,\n    DROP COLUMN IF EXISTS a;",
		"ALTER TABLE x ALTER COLUMN a SET NOT NULL;",
		"ALTER TABLE x RENAME TO y;",
		"ALTER TABLE x RENAME COLUMN a TO b;",
		"ALTER TABLE x RENAME a TO b;",
		"ALTER TYPE x RENAME VALUE 'a' TO 'b';",
	} {
		require.NotEmpty(t, breakingPostgres(text), text)
	}
	for _, text := range []string{
		"ALTER TABLE x ADD COLUMN a text;\n-- +goose Down\nALTER TABLE x DROP COLUMN a;\nDROP TABLE x;",
		"ALTER TABLE x ALTER COLUMN a DROP NOT NULL;",
		"ALTER TABLE x DROP CONSTRAINT a, RENAME CONSTRAINT b TO c;",
		"ALTER INDEX a RENAME TO b;",
		"-- later: ALTER TABLE x DROP COLUMN a;",
		"CREATE TABLE x (a text NOT NULL);",
	} {
		require.Empty(t, breakingPostgres(text), text)
	}
}
