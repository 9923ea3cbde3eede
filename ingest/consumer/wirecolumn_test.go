package consumer

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Rows are the same whether the connection compresses or not, and whether or not they were copied because others
// of their block had to go.
func TestRowsAreTheSameHoweverTheyAreSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(4)
	for i, length := range []int{8, 127, 128, 300} { // the length before a text takes a byte, or two
		events[i].Data = fmt.Appendf(nil, `{"x":"%s"}`, strings.Repeat("y", length-len(`{"x":""}`)))
		events[i].GenericLinkID = uuid.New()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	const plain, compressed, copied = 0, 1, 2 // partitions
	for partition := range int32(3) {
		s, rows := r.store(partition), r.rows(partition, 0, events...)
		switch partition {
		case compressed:
			s.options.Compression = ch.CompressionLZ4
		case copied:
			first := eventStream().tables.copyRows(rows, func(offset int64) bool { return offset < 2 })
			require.NoError(t, s.insert(ctx, &s.connection, first, fmt.Sprintf("%d first %s", partition, r.group)))
			rows = eventStream().tables.copyRows(rows, func(offset int64) bool { return offset >= 2 })
		}
		require.NoError(t, s.insert(ctx, &s.connection, rows, fmt.Sprintf("%d %s", partition, r.group)), "partition %d", partition)
	}
	var partitions, offset, states proto.ColUInt64
	var offsets []uint64
	s := r.store(plain)
	require.NoError(t, s.do(ctx, ch.Query{
		Body: `SELECT count() AS partitions, toUInt64(kafka_offset) AS offset, uniqExact(account_id, lead_magnet_id, generic_link_id, access_link_id, session_id,
			event_id, event_type, event_data, magnet_version, page, duration_ms, ip_hash, user_agent, bot, created_at, received_at) AS states
			FROM events WHERE kafka_topic_id = {topic:UUID} GROUP BY kafka_offset`,
		Parameters: s.parameters(map[string]any{}),
		Result:     proto.Results{{Name: "partitions", Data: &partitions}, {Name: "offset", Data: &offset}, {Name: "states", Data: &states}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range offset.Rows() {
				offsets = append(offsets, offset.Row(i))
				require.Equal(t, uint64(3), partitions.Row(i))
				require.Equal(t, uint64(1), states.Row(i), "offset %d", offset.Row(i))
			}
			return nil
		},
	}))
	require.ElementsMatch(t, []uint64{0, 1, 2, 3}, offsets)
}
