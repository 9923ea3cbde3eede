package clickhouse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

func TestTheSettingOfShards(t *testing.T) {
	t.Parallel()
	c := clickhouse.Config{URL: "clickhouse://u:p@b:9000/lodestone", Shards: "a:9000; b:9000"}
	require.NoError(t, c.Validate())
	servers, err := c.Servers()
	require.NoError(t, err)
	require.Equal(t, []clickhouse.Config{{URL: "clickhouse://u:p@a:9000/lodestone"},
		{URL: "clickhouse://u:p@b:9000/lodestone"}}, servers)
	for setting, wrong := range map[string]string{
		"a1:9000,a2:9000;b:9000": "--clickhouse-shards (LODESTONE_CLICKHOUSE_SHARDS) has a comma",
		"a:9000,b:9000":          "give one server for each shard, with semicolons between them",
		"b:9000;":                "no address",
		"b:9000;a":               "no address",
		"b:9000;b:9000":          "twice",
		"a:9000;c:9000":          "not in --clickhouse-shards",
	} {
		c.Shards = setting
		require.ErrorContains(t, c.Validate(), wrong, setting)
	}
}
