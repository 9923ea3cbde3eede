package querytest

import (
	"context"
	"fmt"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// Filled tells what Fill made: Links access links, each of one of Magnets lead magnets, and events
// one second apart from Begin on, one a link in turn.
type Filled struct {
	Links, Magnets []uuid.UUID
}

// Begin is when the first event of Fill happened, in Unix seconds: 2025-10-01.
const Begin = 1759276800

// Fill stores many events for an account, made on the server. Every link has a new session
// every ten hours; one event in 20 is a bot's, one in 10 a download.
func Fill(t testing.TB, conn driver.Conn, account uuid.UUID, links, events int) Filled {
	t.Helper()
	var f Filled
	for range links {
		f.Links = append(f.Links, ID(t))
	}
	for range max(1, links/50) {
		f.Magnets = append(f.Magnets, ID(t))
	}
	ctx := native.Context(context.Background(),
		native.WithSettings(native.Settings{"async_insert": 0, "insert_allow_materialized_columns": 1}),
		native.WithParameters(native.Parameters{
			"account": account.String(), "topic": uuid.NewString(), "links": clickhouse.UUIDs(f.Links), "magnets": clickhouse.UUIDs(f.Magnets),
		}))
	require.NoError(t, conn.Exec(ctx, fmt.Sprintf(`
		INSERT INTO lodestone.events (
			account_id, lead_magnet_id, generic_link_id, access_link_id, session_id, event_id, event_type, event_data,
			magnet_version, page, duration_ms, ip_hash, user_agent, bot, created_at, received_at, stored_at,
			kafka_topic_id, kafka_partition, kafka_offset)
		SELECT
			{account:UUID},
			arrayElement({magnets:Array(UUID)}, number %% %[1]d %% %[2]d + 1),
			toUUID('00000000-0000-0000-0000-000000000000'),
			arrayElement({links:Array(UUID)}, number %% %[1]d + 1),
			reinterpret(sipHash128({account:UUID}, number %% %[1]d, intDiv(number, 36000)), 'UUID'),
			generateUUIDv4(),
			multiIf(number %% 10 != 9, 'page_viewed', number %% 20 = 9, 'download_started', 'download_completed'),
			concat('{"page":', toString(number %% 30 + 1), ',"duration_ms":', toString(number %% 60000), '}'),
			1, number %% 30 + 1, number %% 60000,
			toFixedString(unhex('0123456789abcdef0123456789abcdef'), 16),
			concat('Mozilla/5.0 (agent ', toString(number %% 300), ')'),
			if(intDiv(number, 10) %% 20 = 0, 'a rule', ''),
			toDateTime64(%[3]d + number, 3, 'UTC'),
			toDateTime64(%[3]d + number, 3, 'UTC') + toIntervalMillisecond(number %% 3000),
			toDateTime64(%[3]d + number, 3, 'UTC') + toIntervalMillisecond(number %% 5000),
			{topic:UUID}, number %% 4, intDiv(number, 4)
		FROM numbers(%[4]d)`, links, len(f.Magnets), Begin, events)))
	return f
}
