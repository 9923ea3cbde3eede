package counter

import (
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
)

// BenchmarkCount is one step of the counters: 2,000 links have new events, after which each has ten. An
// operation is the complete step: both queries of ClickHouse, and the updates in Postgres, which find the counters
// right from the second time on.
func BenchmarkCount(b *testing.B) {
	const links, rows = 2_000, 20_000
	conn := enginetest.Open(b, enginetest.MigratedClickHouse(b))
	pool := enginetest.MigratedPostgres(b)

	account, magnet, topic := uuid.New(), uuid.New(), uuid.New()
	p := native.Parameters{"account": account.String(), "magnet": magnet.String(), "topic": topic.String()}
	require.NoError(b, conn.Exec(native.Context(b.Context(), native.WithParameters(p)), `
		INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, page, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
		SELECT {account:UUID}, {magnet:UUID}, reinterpretAsUUID(sipHash128({account:UUID}, number % 2000)), generateUUIDv4(number), generateUUIDv4(number + 1), 'page_viewed', 1, now64(3) AS at, toDateTime64(at, 3), {topic:UUID}, 0, number
		FROM numbers(20000)`))
	_, err := pool.Unscoped().Exec(b.Context(), "INSERT INTO accounts (id, name, plan) VALUES ($1, 'a', 'team')", account)
	require.NoError(b, err)
	_, err = pool.Unscoped().Exec(b.Context(), "INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'm')", magnet, account)
	require.NoError(b, err)
	var ids []uuid.UUID
	require.NoError(b, conn.QueryRow(native.Context(b.Context(), native.WithParameters(p)),
		"SELECT groupUniqArray(access_link_id) FROM lodestone.events WHERE account_id = {account:UUID}").Scan(&ids))
	require.Len(b, ids, links)
	_, err = pool.Unscoped().Exec(b.Context(), `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
		SELECT id, $2, $3, 'a@example.com', 'a@example.com', id::text FROM unnest($1::uuid[]) AS id`, ids, account, magnet)
	require.NoError(b, err)

	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, Recount(b.Context(), pool, conn, event.Topic, topic, 0, 0, rows-1))
	}
}
