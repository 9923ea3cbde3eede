package postgres_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

const dataMap = "../../docs/data.md"

// quoted is a name in a cell.
var quoted = regexp.MustCompile("`([a-z0-9_.]+)`")

// mapped returns the tables of docs/data.md with the columns that their rows name.
func mapped(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(dataMap)
	require.NoError(t, err)
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := quoted.FindStringSubmatch(cells[1])
		if name == nil || strings.HasPrefix(name[1], "lodestone.dead_letters") {
			continue
		}
		columns := cells[2:3]
		if len(cells) == 7 {
			columns = cells[2:4]
		}
		for _, c := range columns {
			for _, n := range quoted.FindAllStringSubmatch(c, -1) {
				all[name[1]] = append(all[name[1]], n[1])
			}
		}
		if all[name[1]] == nil {
			all[name[1]] = []string{}
		}
	}
	return all
}

// The data map names every table of both databases and every column that can hold a text, and none
// that is not there. So a new column is classified before it is released.
func TestDataMapHasEveryColumn(t *testing.T) {
	t.Parallel()
	is := map[string][]string{}
	rows, err := enginetest.MigratedPostgres(t).Unscoped().Query(t.Context(), `SELECT c.table_name, c.column_name, c.udt_name FROM information_schema.columns c
		JOIN information_schema.tables t USING (table_schema, table_name) WHERE table_schema = 'public' AND t.table_type = 'BASE TABLE'`)
	require.NoError(t, err)
	var table, column, kind string
	_, err = pgx.ForEachRow(rows, []any{&table, &column, &kind}, func() error {
		if is[table] == nil {
			is[table] = []string{}
		}
		if slices.Contains([]string{"text", "bytea", "json", "jsonb", "varchar", "inet", "_text", "_varchar", "_jsonb"},
			kind) {
			is[table] = append(is[table], column)
		}
		return nil
	})
	require.NoError(t, err)
	found, err := enginetest.Open(t, enginetest.MigratedClickHouse(t)).Query(t.Context(), `SELECT concat('lodestone.', table), name, type FROM system.columns
		WHERE database = 'lodestone' AND default_kind != 'ALIAS' AND table IN (SELECT name FROM system.tables WHERE database = 'lodestone' AND engine LIKE '%MergeTree')`)
	require.NoError(t, err)
	for found.Next() {
		require.NoError(t, found.Scan(&table, &column, &kind))
		if is[table] == nil {
			is[table] = []string{}
		}
		if strings.Contains(kind, "String") {
			is[table] = append(is[table], column)
		}
	}
	require.NoError(t, found.Err())

	should := mapped(t)
	for table, columns := range is {
		require.Contains(t, should, table, "docs/data.md lacks a table")
		slices.Sort(columns)
		slices.Sort(should[table])
		require.Equal(t, columns, should[table], "docs/data.md: columns of %s", table)
	}
	for table := range should {
		if strings.HasPrefix(table, "lodestone.") && is[table] == nil &&
			slices.Contains([]string{"lodestone.events", "lodestone.link_views"}, table) {
			continue // a topic of the same name
		}
		require.Contains(t, is, table, "docs/data.md has a table that is not there")
	}
}
