package stream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test"
)

// Rows are the same whether the connection compresses or not, and whether or not they were copied
// because others of their batch had to go.
func TestRowsAreTheSameHoweverTheyAreSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(4)
	for i, length := range []int{8, 127, 128, 300} { // the length before a text takes a byte, or two
		events[i].Data = fmt.Appendf(nil, `{"x":"%s"}`, strings.Repeat("y", length-len(`{"x":""}`)))
		events[i].GenericLinkID = uuid.New()
		events[i].UserAgent = []byte([]string{"", "curl/8", "Mozilla/5.0 Firefox/143.0", "Mozilla/5.0 Firefox/144.0"}[i])
		events[i].Origin = event.Origin{Language: event.Language{'d', 'e'}, Country: event.Country{'A', 'A' + byte(i)}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	const compressed, copied = 1, 2 // partitions; the first is plain
	for partition := range int32(3) {
		s, rows := r.store(), r.rows(partition, 0, events...)
		switch partition {
		case compressed:
			options := r.options()
			options.Compression = ch.CompressionLZ4
			s.Dial = test.Dialer(options)
		case copied:
			first := Events().Tables.Copy(rows, func(row int) bool { return row < 2 })
			r.insert(ctx, s, first, partition)
			rows = Events().Tables.Copy(rows, func(row int) bool { return row >= 2 })
		}
		r.insert(ctx, s, rows, partition)
	}
	conn, err := clickhouse.Open(r.clickhouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var offsets []int64
	var partitions, states []uint64 // of each offset
	require.NoError(t, conn.QueryRow(ctx, `SELECT groupArray(offset), groupArray(partitions), groupArray(states)
		FROM
		(
			SELECT kafka_offset AS offset, count() AS partitions, uniqExact(account_id, lead_magnet_id, generic_link_id, access_link_id, session_id,
				event_id, event_type, event_data, magnet_version, page, duration_ms, ip_hash, user_agent, agent_names, origin, bot, created_at, received_at) AS states
			FROM lodestone.events WHERE kafka_topic_id = {topic:UUID} GROUP BY offset ORDER BY offset
		)`, native.Named("topic", r.topicID.String())).Scan(&offsets, &partitions, &states))
	require.Equal(t, []int64{0, 1, 2, 3}, offsets)
	require.Equal(t, []uint64{3, 3, 3, 3}, partitions)
	require.Equal(t, []uint64{1, 1, 1, 1}, states)
}
