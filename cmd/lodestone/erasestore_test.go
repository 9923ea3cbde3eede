package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

// marker stands in every field that one person can fill. It is in no file of the program.
const marker = "zqxmarker"

func hasMarker(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte(marker)) }

// stores are the databases of a running `lodestone up`, and the keys that open what is sealed in them.
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
	// sealed are the purposes for which text about people is sealed, with an id of the row. The job that looks again two minutes after an erasure has the
	// address for another purpose.
	sealed = []string{"mails", "chat messages", "webhook messages", "answers", "kept forms"}
)

// marked reports whether a row has the marker: as text, as bytes, or sealed.
func (s stores) marked(row string) bool {
	if hasMarker([]byte(row)) {
		return true
	}
	var values [][]byte
	for _, found := range inHex.FindAllStringSubmatch(row, -1) {
		if value, err := hex.DecodeString(found[1]); err == nil {
			values = append(values, value)
		}
	}
	for _, found := range inBase64.FindAllStringSubmatch(row, -1) {
		if value, err := base64.StdEncoding.DecodeString(found[1]); err == nil {
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

// postgres returns the tables that have the marker in any column, and the columns of which Postgres' own statistics have it.
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
		if slices.ContainsFunc(texts(`SELECT to_jsonb(x)::text FROM `+table+` x`), s.marked) {
			found = append(found, table)
		}
	}
	return append(found, texts(`SELECT 'pg_stats of ' || tablename || '.' || attname FROM pg_stats
		WHERE schemaname = current_schema() AND lower(concat(most_common_vals::text, histogram_bounds::text)) LIKE '%' || $1 || '%'`, marker)...)
}

// lookAgain lets the job do its work that looks for the erased person two minutes later, and waits for it.
func (s stores) lookAgain(t *testing.T) {
	t.Helper()
	_, err := s.pool.Unscoped().Exec(t.Context(), "UPDATE river_job SET scheduled_at = now() WHERE kind = 'erase_again' AND state = 'scheduled'")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var waiting int
		require.NoError(t, s.pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'erase_again' AND state <> 'completed'").Scan(&waiting))
		return waiting == 0
	}, enginetest.Timeout, interval)
}

// clickhouse returns the tables that have the marker in any column, also those that the server keeps about itself. The search itself has
// the marker in another form.
func (s stores) clickhouse(t *testing.T) (found []string) {
	t.Helper()
	for _, table := range s.tables(t, "") {
		search := "positionCaseInsensitive(toString(tuple(*)), unhex('" + hex.EncodeToString([]byte(marker)) + "')) > 0"
		if s.texts(t, "SELECT toString(count()) FROM "+table+" WHERE "+search)[0] != "0" {
			found = append(found, table)
		}
	}
	return found
}

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

// compact lets the databases give up the space of rows that were deleted or changed, as Postgres' vacuum and ClickHouse's removal of old parts do in time.
func (s stores) compact(t *testing.T) {
	t.Helper()
	_, err := s.pool.Unscoped().Exec(t.Context(), "VACUUM (FULL, ANALYZE)") //nolint:misspell // it is SQL
	require.NoError(t, err)
	for _, table := range s.tables(t, " AND database = 'lodestone'") {
		require.NoError(t, s.conn.Exec(t.Context(), "ALTER TABLE "+table+" MODIFY SETTING old_parts_lifetime = 1"))
	}
}

// marked returns the files of the data directory that have the marker. Logs of changes are left out, which have what is past for a time: Kafka's, until
// retention.ms, and the write-ahead log of Postgres.
func (u *up) marked(t *testing.T) (found []string) {
	t.Helper()
	root := filepath.Join(u.dir, "data")
	roots := []string{root}
	if elsewhere, err := os.ReadFile(filepath.Join(root, "postgres", "location")); err == nil {
		roots = append(roots, strings.TrimSpace(string(elsewhere)))
	}
	for _, root := range roots {
		require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
				return nil
			}
			if err == nil && e.IsDir() && (e.Name() == "pg_wal" || path == filepath.Join(root, "kafka")) {
				return filepath.SkipDir
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
	}
	return found
}

// in returns the files of a folder.
func in(folder string, files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !strings.HasPrefix(file, folder) })
}

// decompress returns what is in the blocks of a file of ClickHouse, one after the other. Numbers are stored in other ways, and left out. Other files have
// nothing.
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
