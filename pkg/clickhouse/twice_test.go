package clickhouse_test

import (
	"net"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
)

// Two addresses that lead to one server are noticed before what is for each shard is done twice on
// one, and never on another.
func TestTwoAddressesOfOneServerAreNoTwoShards(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	var ids []string
	each := func(shard driver.Conn) error {
		ids = append(ids, texts(t, shard, "SELECT toString(id) FROM lodestone.shard")...)
		return nil
	}
	conn := enginetest.Open(t, shards.Config)
	require.NoError(t, clickhouse.EachShard(conn, each))
	require.Equal(t, []string{"1", "2"}, ids)
	servers, err := shards.Config.DistinctServers(t.Context())
	require.NoError(t, err)
	require.Len(t, servers, 2)

	o, err := shards.Config.Options()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(o.Addr[0])
	require.NoError(t, err)
	once := shards.Config
	once.Shards = o.Addr[0] + ";localhost:" + port
	ids = nil
	err = clickhouse.EachShard(enginetest.Open(t, once), each)
	require.ErrorContains(t, err, "two addresses of --clickhouse-shards lead to shard 1")
	require.Equal(t, []string{"1"}, ids)
	_, err = once.DistinctServers(t.Context())
	require.ErrorContains(t, err, "two addresses of --clickhouse-shards lead to shard 1", "before a backup")
}
