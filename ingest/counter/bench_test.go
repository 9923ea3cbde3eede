package counter

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// size returns a number from the environment: what is in the tables before the benchmark begins.
func size(b *testing.B, name string, small int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return small
	}
	n, err := strconv.Atoi(text)
	require.NoError(b, err)
	return n
}

const (
	benchAccounts = 200
	benchSession  = 8 // events of a session
	benchStep     = 20_000
)

// benchHistory fills the tables with a year of counted sessions: COUNTER_BENCH_EVENTS events on
// COUNTER_BENCH_LINKS links of 200 accounts.
type benchHistory struct {
	pool          *postgres.Pool
	conn          driver.Conn
	topic         uuid.UUID
	events, links int
	next          int64 // offset
}

func newBenchHistory(b *testing.B) *benchHistory {
	b.Helper()
	h := &benchHistory{
		pool: enginetest.MigratedPostgres(b), conn: enginetest.Open(b, enginetest.MigratedClickHouse(b)), topic: uuid.New(),
		events: size(b, "COUNTER_BENCH_EVENTS", 200_000), links: size(b, "COUNTER_BENCH_LINKS", 10_000),
	}
	for _, sql := range []string{
		"INSERT INTO accounts (id, name, plan) SELECT ('00000000-0000-7000-8001-' || lpad(to_hex(i), 12, '0'))::uuid, 'a', 'team' FROM generate_series(0, 199) AS i",
		"INSERT INTO lead_magnets (id, account_id, title) SELECT id, id AS account_id, 'm' FROM accounts",
		fmt.Sprintf(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
			SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, a AS account_id, a AS lead_magnet_id, 'a@example.com', 'a@example.com', sha256(i::text::bytea), '', 0
			FROM generate_series(0, %d) AS i, LATERAL (SELECT ('00000000-0000-7000-8001-' || lpad(to_hex(i %% 200), 12, '0'))::uuid AS a) AS o`, h.links-1),
		"INSERT INTO access_link_counts (id, account_id) SELECT id, account_id FROM access_links",
		fmt.Sprintf(`INSERT INTO counted_sessions (link_id, session, month)
			SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(s %% %d), 12, '0'))::uuid, ('00000000-0000-7000-8002-' || lpad(to_hex(s), 12, '0'))::uuid, 202611
			FROM generate_series(0, %d) AS s`, h.links, h.events/benchSession-1),
		"ANALYZE",
	} {
		_, err := h.pool.Unscoped().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	const chunk = 2_000_000
	for from := 0; from < h.events; from += chunk {
		h.insert(b, from, min(chunk, h.events-from),
			fmt.Sprintf("now64(3) - toIntervalSecond(31536000 - intDiv(number * 31536000, %d))", h.events), benchSession)
	}
	return h
}

// insert inserts events by their numbers, which are their offsets.
func (h *benchHistory) insert(b *testing.B, from, n int, at string, session int) {
	b.Helper()
	hex := func(kind, number string) string {
		return "toUUID(concat('00000000-0000-7000-" + kind + "-', leftPad(lower(hex(" + number + ")), 12, '0')))"
	}
	link := fmt.Sprintf("intDiv(number, %d) %% %d", session, h.links)
	query := `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, page, duration_ms, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
		SELECT ` + hex("8001", "("+link+") % "+strconv.Itoa(benchAccounts)) + " AS account, account AS magnet, " + hex("8000", link) + ", " +
		hex("8002", fmt.Sprintf("intDiv(number, %d)", session)) + ", generateUUIDv4(number), 'page_viewed', number % 30 + 1, rand(number) % 60000, " + at + ` AS at, toDateTime64(at, 3), {topic:UUID}, 0, number
		FROM numbers({from:UInt64}, {n:UInt64}) SETTINGS max_insert_block_size = 1000000, min_insert_block_size_rows = 1000000, max_partitions_per_insert_block = 100`
	require.NoError(b, h.conn.Exec(native.Context(context.Background(), native.WithParameters(native.Parameters{
		"topic": h.topic.String(), "from": strconv.Itoa(from), "n": strconv.Itoa(n),
	})), query))
	h.next = int64(from + n)
}

// BenchmarkCount is one step: 20,000 new events of 2,500 sessions, half of them of new ones, on
// links anywhere in the installation. The cost of a step must not grow with what is stored.
func BenchmarkCount(b *testing.B) {
	h := newBenchHistory(b)
	c := New(Config{Interval: time.Second}, Deps{Postgres: h.pool, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()})
	s := span{topicID: h.topic}
	_, err := h.pool.Unscoped().Exec(b.Context(),
		"INSERT INTO counted_partitions (topic_id, partition, next_offset, rows_since) VALUES ($1, 0, $2, now())", h.topic,
		h.next)
	require.NoError(b, err)
	k := kinds()[0]
	steps, reading := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		// The numbers of sessions begin anywhere in the history: half of an insert is of sessions that
		// are counted.
		first := rand.IntN(h.events / benchSession)
		h.insertStep(b, first)
		s.from, s.to = h.next-benchStep, h.next
		s.rowsSince = time.Now().Add(-2 * time.Second)
		begin := time.Now()
		_, err := k.read(b.Context(), h.conn, spans{s})
		require.NoError(b, err)
		reading += time.Since(begin)
		b.StartTimer()
		require.NoError(b, c.count(b.Context(), h.conn, k, spans{s}))
		steps++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps)/benchStep, "ns/event")
	// of ClickHouse, once more and not in the time of a step
	b.ReportMetric(float64(reading.Milliseconds())/float64(steps), "ms-reading/op")
	var bytes float64
	require.NoError(b, h.pool.Unscoped().QueryRow(b.Context(),
		"SELECT pg_total_relation_size('counted_sessions')::float8 / count(*) FROM counted_sessions").Scan(&bytes))
	b.ReportMetric(bytes, "B/session")
}

// insertStep inserts the events of a step.
func (h *benchHistory) insertStep(b *testing.B, first int) {
	b.Helper()
	from := h.next
	hex := func(kind, number string) string {
		return "toUUID(concat('00000000-0000-7000-" + kind + "-', leftPad(lower(hex(" + number + ")), 12, '0')))"
	}
	require.NoError(b, h.conn.Exec(native.Context(context.Background(), native.WithParameters(native.Parameters{
		"topic": h.topic.String(), "from": fmt.Sprint(from), "n": fmt.Sprint(benchStep), "first": fmt.Sprint(first),
		"links": fmt.Sprint(h.links), "old": fmt.Sprint(h.events / benchSession),
	})), `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, page, duration_ms, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
		SELECT `+hex("8001", "link % 200")+" AS account, account AS magnet, "+hex("8000", "link")+", "+hex("8002", "if(session % 2 = 0, seen, session + {from:UInt64} + 1000000000000)")+`, generateUUIDv4(number), 'page_viewed', number % 30 + 1, 1000, now64(3) AS at, toDateTime64(at, 3), {topic:UUID}, 0, number
		FROM (SELECT number, intDiv(number - {from:UInt64}, 8) AS session, cityHash64(session, {first:UInt64}) % {old:UInt64} AS seen, seen % {links:UInt64} AS link FROM numbers({from:UInt64}, {n:UInt64}))`))
	h.next += benchStep
}

// BenchmarkHistory sets the counters of 500 links from all their stored rows, as lodestone recount
// does.
func BenchmarkHistory(b *testing.B) {
	h := newBenchHistory(b)
	k := kinds()[0]
	for b.Loop() {
		links := make([]link, historyLinks)
		for i := range links {
			n := rand.IntN(h.links)
			links[i] = link{
				account: uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8001-%012x", n%benchAccounts)),
				id:      uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012x", n)),
			}
		}
		require.NoError(b, setLinks(b.Context(), h.pool, 1, h.conn, k, links))
	}
}
