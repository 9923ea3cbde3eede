package report_test

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// benchmarkReport stores two million events of 20,049 access links, most of them from forms, with
// 100,000 views of a landing page. The lead magnet is the one that half of the events are of.
func benchmarkReport(b *testing.B) (r *report.Reporter, account, magnet uuid.UUID) {
	b.Helper()
	conn, account := querytest.Conn(b), querytest.ID(b)
	large := querytest.Fill(b, conn, account, 49, 1_000_000).Magnets[0]
	links := querytest.Fill(b, conn, account, 20_000, 1_000_000).Links
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}),
		native.WithParameters(native.Parameters{
			"account": account.String(), "magnet": large.String(), "links": clickhouse.UUIDs(links),
		}))
	for _, sql := range []string{
		"INSERT INTO lodestone.magnet_versions SELECT {account:UUID}, {magnet:UUID}, 1, 30, 1",
		`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, submission_id, source, utm_source, version)
		SELECT arrayJoin({links:Array(UUID)}) AS id, {account:UUID}, {magnet:UUID}, if(cityHash64(id) % 10 = 0, NULL, id), if(cityHash64(id) % 10 = 0, 'api', 'mail'), 'newsletter', 1`,
		`INSERT INTO lodestone.submissions (id, account_id, lead_magnet_id, generic_link_id, utm_source, submitted_at, version)
		SELECT arrayJoin({links:Array(UUID)}), {account:UUID}, {magnet:UUID}, {magnet:UUID}, 'newsletter', '2025-10-01', 1`,
		`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, url, created_at)
		SELECT {account:UUID}, {magnet:UUID}, {magnet:UUID}, generateUUIDv4(), 'https://pages.example/l/x?utm_source=newsletter', toDateTime64('2025-10-01', 3, 'UTC') + number FROM numbers(100000)`,
	} {
		require.NoError(b, conn.Exec(ctx, sql))
	}
	return report.New(querytest.Scoped(b)), account, large
}

func BenchmarkFunnel(b *testing.B) {
	r, account, magnet := benchmarkReport(b)
	for name, filters := range map[string][]report.Condition{
		"account": nil, "magnet": {{Dimension: "lead_magnet_id", Values: []any{magnet.String()}}},
		"utm": {{Dimension: "utm_source", Values: []any{"newsletter"}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := r.Funnel(b.Context(), account, report.FunnelQuestion{Filters: filters})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkRetention(b *testing.B) {
	r, account, magnet := benchmarkReport(b)
	for b.Loop() {
		_, err := r.Retention(b.Context(), account, report.RetentionQuestion{LeadMagnetID: magnet, By: report.Day,
			AsOf: time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)})
		require.NoError(b, err)
	}
}
