package clickhouse_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

func TestVersionsThatConfineUsersWhoRead(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"26.7.2.1": false, "26.7.11.11": false, "26.7.11.12": true, "26.7.12.1": true,
		"ClickHouse server version 26.7.11.12 (official build).": true,
		"26.3.33.108": false, "26.4.99.99": false, "26.6.9.18": false, "25.8.99.99": false, "26.8.7.15": false,
		"26.8.8.1": true, "26.9.1.1599": false, "26.10.1.1": true, "27.1.1.1": true,
		"": false, "26.9": false, "26.9.1.99999999999999999999": false,
	} {
		require.Equal(t, want, clickhouse.Confines(version), version)
	}
}

func TestTheServerThatIsBroughtAlongConfinesUsers(t *testing.T) {
	t.Parallel()
	unconfined, version, err := clickhouse.Unconfined(t.Context(), enginetest.MigratedClickHouse(t))
	require.NoError(t, err)
	require.False(t, unconfined, version)
	require.NotEmpty(t, version)
}

// A server does not start with a profile that has a setting which it does not know. No version that
// SQL users may have is older than the newest setting, and the documents name these versions.
func TestVersionsForUsersKnowTheirSettings(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		require.NoError(t, err)
		return string(text)
	}
	named := regexp.MustCompile(`<([a-z][a-z0-9_]*)[>/]`)
	for file, oldest := range map[string]string{read("deploy", "clickhouse", "users.d", "lodestone.xml"): "26.6",
		read("deploy", "dbt", "clickhouse-user.xml"): "26.7"} {
		require.Contains(t, file, "those of ClickHouse 26.7")
		var names []string
		for _, name := range named.FindAllStringSubmatch(file, -1) {
			names = append(names, name[1])
		}
		var newest string
		require.NoError(t, open(t).QueryRow(t.Context(), `SELECT argMax(version, arrayMap(x -> toUInt16(x), splitByChar('.', version))) FROM (
				SELECT argMin(version, arrayMap(x -> toUInt16(x), splitByChar('.', version))) AS version
				FROM system.settings_changes ARRAY JOIN changes AS change WHERE type = 'Session' AND has($1, change.name) GROUP BY change.name)`, names).Scan(&newest))
		require.Equal(t, oldest, newest, "the release that the newest setting came with")
	}
	for _, older := range []string{"26.3", "26.4", "26.5", "26.6"} {
		require.False(t, clickhouse.Confines(older+".999.999"))
	}
	version := regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	row := regexp.MustCompile(`(?m)^\| ClickHouse with SQL users.*$`).FindString(read("docs", "operations.md"))
	listed := version.FindAllString(row, -1)
	require.Len(t, listed, 3)
	for _, v := range listed {
		require.True(t, clickhouse.Confines(v), v)
	}
	rule := regexp.MustCompile(`(?m)^\*\*Versions of ClickHouse\.\*\* .*$`).FindString(read("docs", "sql.md"))
	require.True(t, slices.Equal(listed, version.FindAllString(rule, -1)), rule)
}
