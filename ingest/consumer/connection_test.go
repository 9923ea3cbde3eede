//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// A consumer of hundreds of partitions has few connections to ClickHouse: the server refuses
// connections beyond its limit, also those of readers.
func TestPartitionsDoNotHaveAConnectionEach(t *testing.T) {
	const partitions = 80 // and as many of the link views
	r := newRig(t, partitions)
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	connections := func() int64 {
		var n int64
		require.NoError(t, conn.QueryRow(t.Context(),
			"SELECT value FROM system.metrics WHERE metric = 'TCPConnection'").Scan(&n))
		return n
	}
	before := connections()
	r.consume(r.config())
	for p := range int32(partitions) {
		r.produce(p, r.events(3)...)
	}
	most := int64(0)
	require.Eventually(t, func() bool {
		most = max(most, connections()-before)
		rows, _ := r.counts()
		return rows == 3*partitions
	}, waitLimit, 20*time.Millisecond)
	r.requireStored(3 * partitions)
	require.Positive(t, most)
	require.Less(t, most, int64(partitions))
}
