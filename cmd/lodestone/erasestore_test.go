package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/crud/queue"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// marker stands in every field that one person can fill. It is in no file of the program.
const marker = "zqxmarker"

func hasMarker(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte(marker)) }

// stores are the databases of a running `lodestone up`, and the keys that open what is sealed in
// them.
type stores struct {
	pool *postgres.Pool
	conn driver.Conn
	keys *token.Ring
}

func (u *up) stores(t *testing.T) stores {
	t.Helper()
	setting := func(name string) string { return strings.Trim(u.env[name], "'") }
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: setting("LODESTONE_POSTGRES_URL"), MaxConns: 2})
	require.NoError(t, err)
	conn, err := clickhouse.Open(clickhouse.Config{URL: setting("LODESTONE_CLICKHOUSE_URL")}, 1)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(u.dir, "data", tokenKeysFile))
	require.NoError(t, err)
	keys, err := token.Config{Keys: strings.TrimSpace(string(text))}.Ring()
	require.NoError(t, err)
	return stores{pool, conn, keys}
}

func (s stores) close(t *testing.T) {
	t.Helper()
	s.pool.Close()
	require.NoError(t, s.conn.Close())
}

var (
	anID     = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	inHex    = regexp.MustCompile(`\\\\x([0-9a-f]+)`)
	inBase64 = regexp.MustCompile(`"([A-Za-z0-9+/]{38,}={0,2})"`)
	// sealed are the purposes for which text about people is sealed, with an id of the row.
	sealed = []string{"mails", "webhook messages", "answers"}
)

// marked reports whether a value of a row in JSON has the marker: as text, as bytes, or sealed.
func (s stores) marked(row string, value []byte) bool {
	if hasMarker(value) {
		return true
	}
	var values [][]byte
	for _, found := range inHex.FindAllSubmatch(value, -1) {
		if value, err := hex.DecodeString(string(found[1])); err == nil {
			values = append(values, value)
		}
	}
	for _, found := range inBase64.FindAllSubmatch(value, -1) {
		if value, err := base64.StdEncoding.DecodeString(string(found[1])); err == nil {
			values = append(values, value)
		}
	}
	for _, value := range values {
		if hasMarker(value) {
			return true
		}
		for _, id := range anID.FindAllString(row, -1) {
			context := uuid.MustParse(id)
			for _, purpose := range sealed {
				if text, err := s.keys.Open(purpose, value, context[:]); err == nil && hasMarker(text) {
					return true
				}
			}
		}
	}
	return false
}

// postgres returns the columns that contain the marker, as table.column, in the tables and in
// Postgres' statistics.
func (s stores) postgres(t *testing.T) (found []string) {
	t.Helper()
	texts := func(query string, args ...any) []string {
		rows, err := s.pool.Unscoped().Query(t.Context(), query, args...)
		require.NoError(t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return texts
	}
	tables := texts(`SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()`)
	require.Contains(t, tables, "access_links")
	for _, table := range tables {
		for _, row := range texts(`SELECT to_jsonb(x)::text FROM ` + table + ` x`) {
			var columns map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(row), &columns))
			for column, value := range columns {
				if name := table + "." + column; !slices.Contains(found, name) && s.marked(row, value) {
					found = append(found, name)
				}
			}
		}
	}
	return append(found, texts(`SELECT 'pg_stats of ' || tablename || '.' || attname FROM pg_stats
		WHERE schemaname = current_schema() AND lower(concat(most_common_vals::text, histogram_bounds::text)) LIKE '%' || $1 || '%'`, marker)...)
}

// queues are the columns that keep a person who was erased until the day that the receipt names.
var queues = []string{"river_job.args", "webhook_deliveries.body_sealed", "webhook_deliveries.attempts",
	"idempotency_keys.sealed", "idempotency_keys.key"}

// age lets the seven days pass for which queues keep what they have, but for the hours by which
// they are pruned earlier.
func (u *up) age(t *testing.T, s stores) {
	t.Helper()
	for _, column := range []string{"river_job SET created_at", "webhook_deliveries SET created_at",
		"idempotency_keys SET claimed_at"} {
		_, set, _ := strings.Cut(column, " SET ")
		_, err := s.pool.Unscoped().Exec(t.Context(), "UPDATE "+column+" = "+set+" - $1::interval", queue.PruneAt)
		require.NoError(t, err)
	}
	mails, err := filepath.Glob(filepath.Join(u.dir, "data", "mailbox", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, mails)
	for _, name := range mails { // which begins with the time
		require.NoError(t, os.Rename(name,
			filepath.Join(filepath.Dir(name), "20260102"+filepath.Base(name)[len("20260102"):])))
	}
}

// clickhouse returns the columns that have the marker, as database.table.column, also of tables
// that the server keeps about itself. The search has the marker in another form. Columns of events
// that no sender writes are found if they have a value where the event is not Bob's.
func (s stores) clickhouse(t *testing.T) (found []string) {
	t.Helper()
	searches := map[string][]string{}
	for _, name := range s.texts(t, `SELECT concat(database, '.', table, '.', name) FROM system.columns WHERE type LIKE '%String%' AND default_kind != 'ALIAS'
		AND (database, table) IN (SELECT database, name FROM system.tables WHERE engine LIKE '%MergeTree')`) {
		part := strings.SplitN(name, ".", 3)
		table, column := part[0]+"."+part[1], "toString(`"+part[2]+"`)"
		condition := "positionCaseInsensitive(" + column + ", unhex('" + hex.EncodeToString([]byte(marker)) + "')) > 0"
		if slices.Contains(derived, name) {
			condition = "replaceAll(" + column + ", char(0), '') != '' AND user_agent != '" + bobsAgent + "'"
		}
		searches[table] = append(searches[table], "if(countIf("+condition+") > 0, '"+name+"', '')")
	}
	require.Contains(t, searches, "lodestone.events")
	for table, search := range searches {
		for _, name := range s.texts(t, "SELECT arrayJoin(["+strings.Join(search, ", ")+"]) FROM "+table) {
			if name != "" {
				found = append(found, name)
			}
		}
	}
	return found
}

// derived are the columns of events that Lodestone derives from a request.
var derived = []string{"lodestone.events.ip_hash", "lodestone.events.agent_names", "lodestone.events.origin"}

// tables returns the tables of ClickHouse that have rows.
func (s stores) tables(t *testing.T, where string) []string {
	t.Helper()
	tables := s.texts(t, "SELECT database || '.' || name FROM system.tables WHERE engine LIKE '%MergeTree'"+where)
	require.Contains(t, tables, "lodestone.events")
	return tables
}

func (s stores) texts(t *testing.T, query string) (list []string) {
	t.Helper()
	rows, err := s.conn.Query(t.Context(), query)
	require.NoError(t, err)
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		list = append(list, text)
	}
	require.NoError(t, errors.Join(rows.Err(), rows.Close()))
	return list
}

// compact lets the engines give up what was deleted or changed, as they do in time: Postgres'
// vacuum, ClickHouse's removal of old parts, and Kafka's retention of all records until now. It
// returns when no file of theirs has the marker, and Kafka has no file of records, which may be
// compressed.
//
// A checkpoint renames files of Postgres' write-ahead log to be written later, and they keep what
// they had until then. So it has all of them written once.
func (u *up) compact(t *testing.T, s stores) {
	t.Helper()
	for _, table := range s.tables(t, " AND database = 'lodestone'") {
		require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+table+" MODIFY SETTING old_parts_lifetime = 1"))
	}
	broker, err := kgo.NewClient(u.kafka().Options(slog.New(slog.DiscardHandler))...)
	require.NoError(t, err)
	defer broker.Close()
	ends, err := kadm.NewClient(broker).ListEndOffsets(t.Context(), event.Topic,
		event.LinkViewTopic, event.DeadLetterTopic)
	require.NoError(t, errors.Join(err, ends.Error()))
	records := func() []string {
		files, err := filepath.Glob(filepath.Join(u.dir, "data", "kafka", "log", "partitions", "lodestone.*", "*.dat"))
		require.NoError(t, err)
		return files
	}
	require.NotEmpty(t, records())
	deleted, err := kadm.NewClient(broker).DeleteRecords(t.Context(), ends.Offsets())
	require.NoError(t, errors.Join(err, deleted.Error()))

	execute, leave := u.administer(t)
	defer leave()
	execute("VACUUM (FULL, ANALYZE)")
	require.Eventually(t, func() bool {
		execute("SELECT pg_logical_emit_message(true, '', '')", "SELECT pg_switch_wal()", "CHECKPOINT")
		return len(u.marked(t, "postgres")) == 0
	}, enginetest.Timeout, seldom)
	require.Eventually(t, func() bool { return len(records()) == 0 }, enginetest.Timeout, interval)
	require.Eventually(t, func() bool { return len(u.marked(t, "clickhouse")) == 0 }, enginetest.Timeout, time.Second)
}

// administer connects to Postgres as the user that may do everything there.
func (u *up) administer(t *testing.T) (execute func(statements ...string), leave func()) {
	t.Helper()
	var passwords map[string]string
	text, err := os.ReadFile(filepath.Join(u.dir, "data", "postgres", "passwords.json"))
	require.NoError(t, errors.Join(err, json.Unmarshal(text, &passwords)))
	at, err := url.Parse(strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'"))
	require.NoError(t, err)
	at.User = url.UserPassword("postgres", passwords["postgres"])
	admin, err := pgx.Connect(t.Context(), at.String())
	require.NoError(t, err)
	return func(statements ...string) {
		for _, statement := range statements {
			_, err := admin.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
	}, func() { require.NoError(t, admin.Close(context.WithoutCancel(t.Context()))) }
}

// marked returns the files of a folder of the data directory, "" for all, that have the marker.
func (u *up) marked(t *testing.T, folder string) (found []string) {
	t.Helper()
	root := filepath.Join(u.dir, "data")
	require.NoFileExists(t, filepath.Join(root, "postgres", "location"), "Postgres has its files elsewhere")
	require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && (hasMarker(content) || hasMarker(decompress(content))) {
			name, _ := filepath.Rel(root, path)
			found = append(found, name)
		}
		return err
	}))
	return found
}

// decompress returns what is in the blocks of a file of ClickHouse, one after the other. Numbers
// are stored in other ways, and left out. Other files have nothing.
func decompress(file []byte) (text []byte) {
	const header, sum = 25, 16 // a hash, the method, and two sizes
	for len(file) >= header {
		size := sum + int(binary.LittleEndian.Uint32(file[sum+1:]))
		if size < header || size > len(file) {
			return text
		}
		if block, err := io.ReadAll(compress.NewReader(bytes.NewReader(file[:size]))); err == nil {
			text = append(text, block...)
		}
		file = file[size:]
	}
	return text
}
