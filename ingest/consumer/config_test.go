package consumer

import (
	"reflect"
	"testing"
	"time"

	"lodestone/ingest/stream"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// An insert may begin within its timeout and is sent for as long as the server waits for its next
// bytes. Until then its token must not be forgotten, also on a server whose tables take two blocks
// a second of each of 300 partitions.
func TestATokenOutlivesTheInsertsThatCanStillArrive(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	field, _ := reflect.TypeFor[Config]().FieldByName("InsertTimeout")
	begin, err := time.ParseDuration(field.Tag.Get("default"))
	require.NoError(t, err)
	const blocks = 2 * 300 // a second
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, s := range stream.All() {
		var remembered uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT toUInt64(extract(create_table_query, 'non_replicated_deduplication_window = ([0-9]+)'))"+
			" FROM system.tables WHERE database = 'lodestone' AND name = {table:String}", chParameter("table", s.Table)).Scan(&remembered))
		require.Greater(t, float64(remembered)/blocks, 2*(begin+stream.ReceiveTimeout).Seconds(), s.Table)
	}
}
